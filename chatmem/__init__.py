"""What two or more of the top-level programs need; imports none of them."""

import os

# Threads that wait for work sleep. By default they spin, and a second busy program on the machine then slows a reply
# up to six times (measured on two cores: 1.5 to 5 tokens/s against 8 to 10, and 12 to 13 alone). Read when torch loads.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
