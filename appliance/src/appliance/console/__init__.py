"""The screen on VGA and serial: what this router is doing, and the few things that need no network."""
