"""List, detail and actions for objects of the document and for live rows, from a declaration (`pages/`)."""
