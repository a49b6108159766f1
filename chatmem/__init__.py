"""What two or more of the top-level programs need; imports none of them."""

import os
from pathlib import Path

# Threads that wait for work sleep. By default they spin, and a second busy program on the machine then slows a reply
# up to six times (measured on two cores: 1.5 to 5 tokens/s against 8 to 10, and 12 to 13 alone). Read when torch loads.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# Importing torch asks for a temporary folder that can be written, for a compiler that is not used here; on a full disk
# there is none, and the chat could not even start. Named, the folder is not tried.
os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(Path(__file__).parent))
