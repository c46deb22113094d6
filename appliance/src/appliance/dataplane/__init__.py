"""The data planes, which forward packets, and their configuration from the document."""
