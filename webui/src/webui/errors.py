"""Errors of the web half, in addition to those of `appliance.errors`."""

from __future__ import annotations

from appliance.config.merge import MergeConflict
from appliance.errors import MillraceError


class Forbidden(MillraceError):
    """The user may not do this."""


class MergeConflicts(MillraceError):
    """The change set and the running configuration both changed the same places."""

    def __init__(self, conflicts: tuple[MergeConflict, ...]) -> None:
        self.conflicts = conflicts
        super().__init__(
            "the running configuration was changed at the same places: "
            + ", ".join(conflict.path or "/" for conflict in conflicts[:5])
        )


class RequestProblem(MillraceError):
    """The request itself cannot be served: `status` and a sentence; `headers` go with the answer."""

    def __init__(
        self, status: int, detail: str, headers: dict[str, str] | None = None, pointer: str | None = None
    ) -> None:
        self.status, self.detail, self.pointer = status, detail, pointer
        self.headers = headers or {}
        super().__init__(detail)
