"""An interface to another process of this machine, by shared memory."""
