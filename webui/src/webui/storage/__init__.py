"""How much of everything is kept in the database, and for how long."""
