"""Cross-reference checks, one module for each part of the document."""
