"""Change sets, which hold a user's intended changes, and the history of the router's configuration."""
