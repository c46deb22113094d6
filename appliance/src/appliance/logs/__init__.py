"""What the router's programs log: read from the end, in bounded pages, with secrets struck out."""
