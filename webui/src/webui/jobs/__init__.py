"""Things that take a while: they answer at once with a job one can follow and cancel."""
