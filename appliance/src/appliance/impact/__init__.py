"""What a commit means once it is made: sessions that close, packets that are dropped, routes that go.

The steps of a plan say what making the change disturbs; this says what the result does. Features declare
their analyses in ``impact.py`` of their folder (ADR 21).
"""
