"""The screen on VGA and serial: the router's status, and the few actions that need no network."""
