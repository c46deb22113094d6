"""The configuration document, and what can be known about it without touching a router."""
