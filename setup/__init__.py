"""What `make` runs before the project itself: Debian packages, the Python environment, the web's assets."""
