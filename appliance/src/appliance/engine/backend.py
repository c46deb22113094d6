"""What the engine needs of anything it configures: VPP, the Linux kernel, FRR, the host's files.

A backend's steps and states are its own types; the modules that define them do not know the engine.
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

    ``backend`` is its name; in the text, the observed failure follows it.
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
        """The change in one line, imperative."""

    @property
    def undo_summary(self) -> str:
        """Its undo in one line, imperative."""

    @property
    def impact(self) -> str:
        """``none``, ``resets <session>``, ``loses packets on <interface>`` or ``restarts <process>``."""

    @property
    def path(self) -> str:
        """JSON pointer to the object of the document that it serves; empty when there is none."""


Wanted = TypeVar("Wanted")
"""The desired state of a backend, as ``compile_document`` returns it."""
Seen = TypeVar("Seen")
"""Its observed state."""
OwnStep = TypeVar("OwnStep", bound=Step)
"""Its step type, or the union of its step types."""


class Backend(ABC, Generic[Wanted, Seen, OwnStep]):
    """One program or subsystem under configuration. Calls come from one thread at a time, save ``observe``,
    which may run while another thread plans (never while it applies).
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """Its name in plans and in health: one word, unique among the backends."""

    @property
    def generation(self) -> int:
        """Grows when the program behind it has restarted: the state it lost is restored even where drift is
        only reported.
        """
        return 0

    @abstractmethod
    def observe(self) -> Seen:
        """Live state. Raises BackendUnavailable."""

    @abstractmethod
    def plan(self, desired: Wanted, observed: Seen) -> Sequence[OwnStep]:
        """Steps from observed to desired, ordered within each phase. Pure; empty when the two are equal."""

    @abstractmethod
    def apply(self, step: OwnStep) -> None:
        """Apply one step. Raises StepError or BackendUnavailable, after undoing what it began."""

    @abstractmethod
    def undo(self, step: OwnStep) -> None:
        """Restore what an applied step changed; undoing a step that was never applied does nothing."""

    def apply_in_portions(self, step: OwnStep, between: Callable[[], None]) -> None:  # noqa: ARG002 - for those that make portions
        """Like ``apply``, but a long step calls ``between`` from time to time.

        If ``between`` raises, the part already applied is undone and the error raised again.
        """
        self.apply(step)

    def diff(self, desired: Wanted, observed: Seen) -> Sequence[str]:  # noqa: ARG002 - for those that have a text
        """The difference as text for previews, secrets masked; no lines where the steps say it all."""
        return ()

    def may_reopen(self, before: RouterConfig, after: RouterConfig) -> bool:  # noqa: ARG002
        """Whether ``reopen`` may have work, without asking the program; true for backends that define it."""
        return type(self).reopen is not Backend.reopen

    def reopen(self, before: RouterConfig, after: RouterConfig) -> list[str]:  # noqa: ARG002 - nothing is kept closed
        """After a revision was recorded: set up again what ``before`` kept closed and ``after`` does not.

        Returns a sentence for each thing done.
        """
        return []

    def committed(self, desired: Wanted) -> None:
        """After a revision was recorded: write the files from which the program boots without an agent."""


SomeBackend = Backend[Any, Any, Any]
"""A backend of any type: the engine passes each its own states and steps, and never looks inside them."""
