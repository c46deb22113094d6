"""Common handling of requests and responses: headers, static files, error pages, the client's address."""
