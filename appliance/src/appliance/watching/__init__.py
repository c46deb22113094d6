"""Commit, then watch: service after a commit is compared with service before it.

Features declare what they compare and by which rule in ``watch.py`` of their folder (ADR 25).
"""
