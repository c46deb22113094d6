"""The part of the client that is about benches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TypeVar

from appliance.client import calls
from appliance.state.benches import BenchState, BenchWanted

T = TypeVar("T")


class BenchCalls(ABC):
    """Begin and cancel."""

    @abstractmethod
    def _ask(self, call: calls.Call[T]) -> T: ...

    def start_bench(self, wanted: BenchWanted, *, author: str) -> BenchState:
        """Begin to measure how fast this router forwards; raises Conflict with what stands against it."""
        return self._ask(calls.start_bench(wanted, author))

    def cancel_bench(self, bench: str) -> BenchState:
        """End a bench; the router is as before when this returns."""
        return self._ask(calls.cancel_bench(bench))
