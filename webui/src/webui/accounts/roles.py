"""What a user may do. Each role includes those before it."""

from __future__ import annotations

from django.db import models


class Role(models.TextChoices):
    """Roles, weakest first."""

    VIEWER = "viewer", "Viewer"
    """Reads everything but secrets."""
    OPERATOR = "operator", "Operator"
    """Runs tools and confirms commits."""
    ENGINEER = "engineer", "Engineer"
    """Edits, commits and rolls back."""
    ADMIN = "admin", "Admin"
    """Manages users, everybody's tokens and reads the audit log."""

    @property
    def rank(self) -> int:
        """Position from weakest to strongest."""
        return list(Role).index(self)

    def includes(self, other: Role) -> bool:
        """Whether this role may do what `other` may."""
        return self.rank >= other.rank
