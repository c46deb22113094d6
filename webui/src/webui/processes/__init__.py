"""The processes of the web half: one that imports everything, and its children, which share that.

The parent serves nobody. It forks the server, and where a broker is configured the worker and the scheduler;
a child that ends is forked anew from it.
"""
