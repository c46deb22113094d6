"""The processes of the web half: a parent that imports everything, and its children, which share that memory.

The parent serves no requests. It forks the server and, where a broker is configured, the worker and the
scheduler; a child that ends is forked again.
"""
