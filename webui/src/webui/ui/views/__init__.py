"""One module for each family of pages. A view calls services, passes the answers to a template, and does
nothing else.
"""
