"""What happens to every request and response: headers, static files, error pages, the client's address."""
