"""The data planes: what forwards packets, and how the document becomes that."""
