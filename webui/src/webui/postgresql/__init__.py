"""Django's PostgreSQL backend, which does not wait for ever for a server that says nothing."""
