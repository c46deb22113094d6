"""What the engine needs of anything it configures: VPP, the Linux kernel, FRR, the host's files.

A backend's steps and states are its own types, made where no engine is known.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Generic, Literal, Protocol, TypeVar

from appliance.config.document import RouterConfig
from appliance.errors import MillraceError, RouterUnavailable

Phase = Literal["withdraw", "detach", "delete", "create", "attach", "announce"]
PHASES: tuple[Phase, ...] = ("withdraw", "detach", "delete", "create", "attach", "announce")
"""Order of steps over all backends: inner before outer on the way down, outer before inner on the way up."""


class StepError(MillraceError):
    """A step could not be applied or undone; the message is the cause, without secrets."""


class BackendUnavailable(RouterUnavailable):
    """The program behind a backend does not answer. Nothing was changed by the call that raised it.

    ``backend`` is its name, and what was seen follows it in the text.
    """

    def __init__(self, backend: str, message: str) -> None:
        self.backend = backend
        super().__init__(f"{backend}: {message}")


class Step(Protocol):
    """One change, planned and not yet made. Frozen; all texts are without secrets."""

    @property
    def phase(self) -> str:
        """One of PHASES."""

    @property
    def summary(self) -> str:
        """What it does: one line, imperative."""

    @property
    def undo_summary(self) -> str:
        """What undoing it does: one line, imperative."""

    @property
    def impact(self) -> str:
        """``none``, ``resets <session>``, ``loses packets on <interface>`` or ``restarts <process>``."""

    @property
    def path(self) -> str:
        """JSON pointer of the document's object it serves; empty when there is none."""


Wanted = TypeVar("Wanted")
"""The state that a backend has to have, as ``compile_document`` gives it."""
Seen = TypeVar("Seen")
"""The state that it has."""
OwnStep = TypeVar("OwnStep", bound=Step)
"""Its steps, or the union of their kinds."""


class Backend(ABC, Generic[Wanted, Seen, OwnStep]):
    """One program or subsystem under configuration. Calls come from one thread at a time, save ``observe``,
    which may run while another thread plans (never while it applies).
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """As in plans and in health: a word that no other backend has."""

    @property
    def generation(self) -> int:
        """Grows when the program behind it was restarted, so that what it lost is put back even where drift
        is only reported.
        """
        return 0

    @abstractmethod
    def observe(self) -> Seen:
        """Live state. Raises BackendUnavailable."""

    @abstractmethod
    def plan(self, desired: Wanted, observed: Seen) -> Sequence[OwnStep]:
        """Steps from observed to desired, ordered within each phase. Pure; empty when they are alike."""

    @abstractmethod
    def apply(self, step: OwnStep) -> None:
        """Make one step so. Raises StepError or BackendUnavailable, having put back what it began."""

    @abstractmethod
    def undo(self, step: OwnStep) -> None:
        """Put back what an applied step changed; undoing a step that was never applied does nothing."""

    def apply_in_portions(self, step: OwnStep, between: Callable[[], None]) -> None:  # noqa: ARG002 - for those that make portions
        """As ``apply``, asking ``between`` now and then in a step that takes long; when that raises, what was
        begun is put back, and it is raised again.
        """
        self.apply(step)

    def diff(self, desired: Wanted, observed: Seen) -> Sequence[str]:  # noqa: ARG002 - for those that have a text
        """The difference as lines of text for previews, secrets masked; none where steps say it all."""
        return ()

    def may_reopen(self, before: RouterConfig, after: RouterConfig) -> bool:  # noqa: ARG002
        """Whether ``reopen`` may have anything to do, without asking the program; yes where it is there."""
        return type(self).reopen is not Backend.reopen

    def reopen(self, before: RouterConfig, after: RouterConfig) -> list[str]:  # noqa: ARG002 - nothing is kept closed
        """Told both documents after a revision was recorded, to set up again what the one kept closed and the
        other does not; a sentence for each thing it did.
        """
        return []

    def committed(self, desired: Wanted) -> None:
        """Told after a revision was recorded, to write what the program boots from without an agent."""


SomeBackend = Backend[Any, Any, Any]
"""A backend among others: the engine hands each its own states and steps, and looks into none."""
