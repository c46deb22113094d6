"""The transaction engine: it brings the router to a document, or leaves it as it was."""
