"""The agent's revisions, mirrored so that they can be searched and paged."""

from __future__ import annotations

from django.db import models


class RevisionMirror(models.Model):
    """One commit, without its document, which stays with the agent."""

    number = models.PositiveIntegerField(primary_key=True)
    digest = models.CharField(max_length=64)
    author = models.CharField(max_length=64, db_index=True)
    comment = models.CharField(max_length=1000, blank=True)
    time = models.DateTimeField()
    impact = models.TextField(blank=True)
    steps_count = models.PositiveIntegerField(default=0)
    result = models.CharField(max_length=32)

    class Meta:
        ordering = ("-number",)

    def __str__(self) -> str:
        return f"revision {self.number}"
