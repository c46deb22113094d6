"""What the engine needs of anything it configures: VPP, the Linux kernel, FRR, the host's files.

Structural: a backend's steps and states are its own types, made where no engine is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol

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


class Backend(Protocol):
    """One program or subsystem under configuration. Calls come from one thread at a time, save ``observe``,
    which may run while another thread plans (never while it applies).

    A backend may also have

    - ``diff(desired, observed) -> list[str]``: the difference as text for previews, secrets masked;
    - ``generation: int``: grows when the program behind it was restarted, so that what it lost is put back
      even where drift is only reported;
    - ``reopen(before, after) -> list[str]``: told both documents after a revision was recorded, to set up
      again what the one kept closed and the other does not; a sentence for each thing it did;
    - ``may_reopen(before, after) -> bool``: whether ``reopen`` could have anything to do, without asking the
      program; yes where it is missing;
    - ``apply_in_portions(step, between) -> None``: as ``apply``, asking ``between`` now and then in a step
      that takes long; when that raises, what was begun is put back, and it is raised again;
    - ``committed(desired) -> None``: told after a revision was recorded, to write what the program reads when
      it boots without an agent.
    """

    @property
    def name(self) -> str:
        """``vpp``, ``linux``, ``frr`` or ``host``."""

    def observe(self) -> Any:
        """Live state, in the form ``compile_document`` gives for this backend. Raises BackendUnavailable."""

    def plan(self, desired: Any, observed: Any) -> Sequence[Step]:
        """Steps from observed to desired, ordered within each phase. Pure; empty when they are alike."""

    def apply(self, step: Step) -> None:
        """Make one step so. Raises StepError or BackendUnavailable, having put back what it began."""

    def undo(self, step: Step) -> None:
        """Put back what an applied step changed; undoing a step that was never applied does nothing."""
