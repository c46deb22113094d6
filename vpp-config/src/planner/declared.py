# ruff: noqa: ARG002 - methods of one interface, of which not every object needs every argument
"""The declarations of an object, which are all that the planner knows of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import ClassVar, Literal, Self

Phase = Literal["detach", "delete", "create", "attach"]
PHASES: tuple[Phase, ...] = ("detach", "delete", "create", "attach")
"""Order of the changes; a caller with several planners interleaves their plans by phase."""


class Declared(ABC):
    """One thing that a system can be configured to hold. Comparable; subclasses are frozen dataclasses.

    Objects name each other by *tokens*: what an object provides, and what it needs of others. ``beside`` is
    the state that the object belongs to, by token.

    Only :attr:`key` and :meth:`label` have to be implemented. The defaults describe an object that depends on
    nothing, carries no traffic, and is made anew whenever it changes.
    """

    up_phase: ClassVar[Phase] = "create"
    """The phase in which it is made or changed in place; a later one where something it needs comes later."""
    down_phase: ClassVar[Phase] = "delete"
    """The phase in which it is removed; a later one where something that releases it comes later."""

    # -- identity

    @property
    @abstractmethod
    def key(self) -> str:
        """Identity: in two states, the same key stands for the same thing."""

    @property
    def provides(self) -> str:
        """The token that dependents name. Several kinds may share one name space of tokens."""
        return self.key

    @abstractmethod
    def label(self) -> str:
        """The object's name in a sentence: "interface wan0"."""

    # -- dependencies

    def requires(self) -> tuple[str, ...]:
        """Tokens of the objects without which this one cannot exist.

        They exist before it is made and until it is removed. When one of them is made or removed, this object
        is made anew, except for those in :meth:`rebinds`.
        """
        return ()

    def follows(self, beside: Mapping[str, Declared]) -> tuple[str, ...]:
        """Tokens of the objects that, where they exist, are treated like those in :meth:`requires`."""
        return ()

    def rebinds(self) -> tuple[str, ...]:
        """The part of :meth:`requires` that it exchanges in place, make before break.

        When one of these is made or removed, this object is changed instead of made anew: the new one is made
        first, and the old one removed last. If one of them is itself made anew, this object still is too.
        """
        return ()

    def guards(self) -> tuple[str, ...]:
        """Tokens of the objects that pass traffic only while this one is in place, where it is wanted."""
        return ()

    def inside(self) -> str | None:
        """Token of the outer object that contains this one, as a NIC contains a VLAN."""
        return None

    def occupies(self) -> str | None:
        """What nothing else may hold when this one is made."""
        return None

    # -- traffic

    @property
    def carries(self) -> bool:
        """Whether traffic passes through it. If so, it is made and removed in its :meth:`quiet` form."""
        return False

    def quiet(self) -> Self:
        """The same object with no traffic passing through it; called only for an object that carries."""
        return self

    # -- change

    def needs_recreate(self, before: Self) -> bool:
        """Whether the system cannot be changed in place from ``before`` to this object.

        Asked in both directions, like :meth:`pauses`, because a change must also be undone.
        """
        return True

    def pauses(self, before: Self) -> bool:
        """Whether no traffic may pass through it during the change in place."""
        return False

    def shrinks(self, before: Self) -> bool:
        """Whether the change in place must come before the changes of what it requires, rather than after."""
        return False

    # -- the whole state

    def resolve(self, seen: Self | None, beside: Mapping[str, Declared]) -> Self:
        """This object with its open values filled in from what was observed under its key."""
        return self

    def problems(self, beside: Mapping[str, Declared]) -> Iterable[str]:
        """Sentences that say why it cannot exist together with the others, apart from an unmet
        requirement.
        """
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
        """The effect on traffic when this is removed: ``none`` or ``loses packets on <interface>``."""
        return "none"

    def update_impact(self, before: Self) -> str:
        """The effect on traffic of the change in place."""
        return "none"
