# ruff: noqa: ARG002 - methods of one interface, of which not every object needs every argument
"""What an object declares, and all that the planner knows of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import ClassVar, Literal, Self

Phase = Literal["detach", "delete", "create", "attach"]
PHASES: tuple[Phase, ...] = ("detach", "delete", "create", "attach")
"""Order of the changes; a caller with several planners interleaves their plans by phase."""


class Declared(ABC):
    """One thing that a system can be made to hold. Comparable; subclasses are frozen dataclasses.

    Objects name each other by *tokens*: what an object provides, and what it needs of others. ``beside``
    is the state that the object belongs to, by token.

    Only :attr:`key` and :meth:`label` have to be written. The defaults describe an object that depends on
    nothing, carries no traffic, and is made anew whenever it changes.
    """

    up_phase: ClassVar[Phase] = "create"
    """When it is made, or changed in place; later where something that it needs comes later."""
    down_phase: ClassVar[Phase] = "delete"
    """When it is removed; later where something that lets go of it does so later."""

    # -- identity

    @property
    @abstractmethod
    def key(self) -> str:
        """Identity: two states mean the same thing by the same key."""

    @property
    def provides(self) -> str:
        """The token that dependents name. Several kinds may share one name space of tokens."""
        return self.key

    @abstractmethod
    def label(self) -> str:
        """The object in a sentence: "interface wan0"."""

    # -- dependencies

    def requires(self) -> tuple[str, ...]:
        """Tokens of the objects without which this one cannot be.

        They are there before it and until it is gone. When one of them is made or removed, this object is
        made anew, but for those in :meth:`rebinds`.
        """
        return ()

    def follows(self, beside: Mapping[str, Declared]) -> tuple[str, ...]:
        """Tokens of the objects that, where they exist, are treated like those in :meth:`requires`."""
        return ()

    def rebinds(self) -> tuple[str, ...]:
        """Those of :meth:`requires` that it exchanges in place, make before break.

        It is changed, not made anew, when they come and go: the new one is made first, and the old one
        removed last. One that is itself made anew still takes this object along.
        """
        return ()

    def guards(self) -> tuple[str, ...]:
        """Tokens of the objects that pass traffic only while this one is in place, where it is wanted."""
        return ()

    def inside(self) -> str | None:
        """Token of the outer object that this one is a part of, as a VLAN is of its NIC."""
        return None

    def occupies(self) -> str | None:
        """What no other thing may hold when this one is made."""
        return None

    # -- traffic

    @property
    def carries(self) -> bool:
        """Whether traffic passes it. Then it is made and removed in its :meth:`quiet` form."""
        return False

    def quiet(self) -> Self:
        """The same object with no traffic passing it; asked only of one that carries."""
        return self

    # -- change

    def needs_recreate(self, before: Self) -> bool:
        """Whether the system cannot be brought from ``before`` to this in place.

        Asked both ways, as :meth:`pauses` is: a change has to be undone, too.
        """
        return True

    def pauses(self, before: Self) -> bool:
        """Whether no traffic may pass it during the change in place."""
        return False

    def shrinks(self, before: Self) -> bool:
        """Whether the change in place has to come before that of what it requires, not after it."""
        return False

    # -- the whole state

    def resolve(self, seen: Self | None, beside: Mapping[str, Declared]) -> Self:
        """This object with what it leaves open filled in, from what was observed under its key."""
        return self

    def problems(self, beside: Mapping[str, Declared]) -> Iterable[str]:
        """Sentences that say why it cannot be beside the others, apart from a requirement not met."""
        return ()

    # -- texts

    def describe_create(self) -> str:
        """Imperative summary of making it."""
        return f"add {self.label()}"

    def describe_update(self, before: Self) -> str:
        """Imperative summary of the change in place."""
        return f"change {self.label()}"

    def describe_revert(self, before: Self) -> str:
        """Imperative summary of undoing the change in place."""
        return before.describe_update(self)

    def removal_impact(self) -> str:
        """What traffic notices when this goes away: ``none`` or ``loses packets on <interface>``."""
        return "none"

    def update_impact(self, before: Self) -> str:
        """What traffic notices of the change in place."""
        return "none"
