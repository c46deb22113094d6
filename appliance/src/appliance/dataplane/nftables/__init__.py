"""The kernel's packet filter: the parts of its rules, and the program that loads them."""
