"""The operations of the API, one module for each kind of thing."""
