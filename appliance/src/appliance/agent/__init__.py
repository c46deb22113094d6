"""The agent: owns the running document and the router under it; HTTP and JSON over a Unix socket."""
