"""A step of a plan: one object, with the exact lines to do and to undo."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from frr_config.errors import FrrConfigError

Phase = Literal["withdraw", "announce"]
Mode = Literal["configure", "exec"]


@dataclass(frozen=True, slots=True)
class Command:
    """A line for one or more daemons, in a context; with ``mode`` exec, an operational command."""

    daemons: tuple[str, ...]
    context: tuple[str, ...]
    text: str
    mode: Mode = "configure"

    def to_json(self) -> dict[str, Any]:
        """A form for the journal, with secrets."""
        return {
            "daemons": list(self.daemons),
            "context": list(self.context),
            "text": self.text,
            "mode": self.mode,
        }

    @classmethod
    def from_json(cls, data: Any) -> Command:
        """The inverse of ``to_json``."""
        if data["mode"] not in ("configure", "exec"):
            raise ValueError(f"mode {data['mode']!r}")
        return cls(tuple(data["daemons"]), tuple(data["context"]), str(data["text"]), data["mode"])


@dataclass(frozen=True, slots=True)
class Step:
    """One change, its inverse, and what it does to sessions."""

    phase: Phase
    summary: str
    undo_summary: str
    impact: str
    """``none``, ``resets bgp neighbor 192.0.2.1``, ``resets bgp neighbors A, B``, ``resets ospf`` or
    ``resets ospf on core0``."""
    path: str
    """JSON pointer of the object in the document; empty for lines that are not part of the document."""
    do: tuple[Command, ...]
    undo: tuple[Command, ...]

    def to_json(self) -> dict[str, Any]:
        """A form for the journal, with secrets in ``do`` and ``undo``."""
        return {
            "phase": self.phase,
            "summary": self.summary,
            "undo_summary": self.undo_summary,
            "impact": self.impact,
            "path": self.path,
            "do": [command.to_json() for command in self.do],
            "undo": [command.to_json() for command in self.undo],
        }

    @classmethod
    def from_json(cls, data: Any) -> Step:
        """The inverse of ``to_json``. Raises FrrConfigError."""
        try:
            if data["phase"] not in ("withdraw", "announce"):
                raise ValueError(f"phase {data['phase']!r}")
            return cls(
                phase=data["phase"],
                summary=str(data["summary"]),
                undo_summary=str(data["undo_summary"]),
                impact=str(data["impact"]),
                path=str(data["path"]),
                do=tuple(Command.from_json(command) for command in data["do"]),
                undo=tuple(Command.from_json(command) for command in data["undo"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise FrrConfigError(f"not a stored FRR step: {error}") from None
