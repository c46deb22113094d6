"""Change sets: what a user would like the router to be, and the history of what it was."""
