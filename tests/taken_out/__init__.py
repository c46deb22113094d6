"""The product without one of its features, to see what needs the feature."""
