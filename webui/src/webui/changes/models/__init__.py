"""The stored data about changes."""

from webui.changes.models.change_set import ChangeSet
from webui.changes.models.revision import RevisionMirror

__all__ = ["ChangeSet", "RevisionMirror"]
