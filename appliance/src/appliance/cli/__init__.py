"""The command line: `millrace`."""
