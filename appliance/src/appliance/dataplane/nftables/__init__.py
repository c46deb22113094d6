"""The kernel's packet filter: what its rules are made of, and the program that takes them."""
