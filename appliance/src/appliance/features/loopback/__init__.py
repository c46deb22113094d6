"""A virtual interface that is always up."""
