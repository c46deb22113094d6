"""Whether the objects of the document do what they say: each declared by its feature, all read in one way."""
