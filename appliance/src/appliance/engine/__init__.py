"""The transaction engine: from a document to a router that is so, or to the router as it was."""
