"""The effects of a commit's result: sessions that close, packets that are dropped, routes that disappear.

The steps of a plan say what the change itself disturbs; this package says what its result does. Features
declare their analyses in ``impact.py`` of their folder (ADR 21).
"""
