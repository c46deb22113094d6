"""Commit, then watch: sessions and traffic after a commit are compared with those before it.

Features declare what they compare and by which rule in ``watch.py`` of their folder (ADR 25).
"""
