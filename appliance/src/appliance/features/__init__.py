"""The features of the router: one folder each, with the same file names in all of them.

Nothing outside a folder knows the feature's name. ``appliance.features.registry`` finds the folders and their
declarations.
"""
