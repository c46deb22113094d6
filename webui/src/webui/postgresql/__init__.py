"""Django's PostgreSQL backend with a limit on the wait for a server that does not answer."""
