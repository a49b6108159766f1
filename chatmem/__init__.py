"""What two or more of the top-level programs need; imports none of them."""
