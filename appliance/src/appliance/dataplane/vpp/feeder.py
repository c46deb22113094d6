"""The FIB feeder next to VPP (``feeder/``), over its status socket."""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from appliance.dataplane.vpp.fed_routes import page_question, read_page, route_counts
from appliance.dataplane.vpp.room import RouteRoom
from appliance.engine.backend import BackendUnavailable, StepError
from appliance.errors import Conflict
from appliance.routing.rows import FAMILIES, Family, FedPage
from appliance.state.feeder import IN_TABLE, FeederState
from appliance.state.health import PartHealth
from appliance.state.routes import RouteCount, RoutesQuery
from vpp_config.retvals import meaning

log = logging.getLogger(__name__)

NAME = "feeder"
LABEL = "FIB feeder"
VACATE_S = 20.0
"""How long the routes over a mirror may take to leave VPP: with a full table, some seconds."""
_ANSWER_S = 5.0
_ANY_NUMBER = (1 << 64) - 1
_LONGEST_LINE_BYTES = 4 << 20


class FeederClient:
    """A feeder whose status socket is ``path``. Each question is a connection of its own; thread-safe.

    ``by_size`` says how many routes VPP has room for without the rest of the document; None if unknown. It
    may raise OSError or ValueError for a startup file that cannot be read.
    """

    def __init__(self, path: Path, by_size: Callable[[], int | None] = lambda: None) -> None:
        self._path, self._by_size = path, by_size
        self._lent = 0
        self.most_routes: int | None = None
        """How many routes there is room for in addition to the running document; None until that is known."""

    def state(self) -> FeederState:
        """Its whole status. Raises BackendUnavailable."""
        with self._asked("status", _ANSWER_S) as told, _as_it_should_be():
            return _state(told)

    def keep_size(self, state: FeederState) -> None:
        """Tell it how many routes VPP has room for, unless it knows. Raises BackendUnavailable."""
        try:
            most = self._by_size() if self.most_routes is None else self.most_routes
        except (OSError, ValueError) as error:
            raise BackendUnavailable(NAME, f"VPP's size is not known: {error}") from error
        if most is not None and max(most - self._lent, 0) != state.most_routes:
            self.set_most(most)

    def set_most(self, most: int | None) -> None:
        """Have it give VPP at most that many routes, or any number. Raises BackendUnavailable.

        The number is kept from here on (``keep_size``), even in the middle of a commit.
        """
        self.most_routes = most
        self._tell_most(None if most is None else max(most - self._lent, 0))

    def _tell_most(self, most: int | None) -> None:
        with self._asked(f"most {_ANY_NUMBER if most is None else most}", _ANSWER_S):
            log.info("VPP has room for %s routes", "any number of" if most is None else most)

    def room(self) -> RouteRoom | None:
        """How many routes it may give VPP, and how many VPP has; None if it does not answer."""
        try:
            return self._room(self.state())
        except BackendUnavailable:
            return None

    def _room(self, state: FeederState) -> RouteRoom:
        most = state.most_routes
        return RouteRoom(None if most is None else most + self._lent, state.in_vpp)

    @contextmanager
    def asking_room(self) -> Iterator[Callable[[], RouteRoom | None]]:
        """``room``: the question is sent at the beginning of the block, the function waits for the answer."""
        try:
            connection = self._ask("status", _ANSWER_S)
        except BackendUnavailable:
            yield lambda: None
            return

        def answer() -> RouteRoom | None:
            try:
                with _as_it_should_be():
                    return self._room(_state(self._answer(connection, "status")))
            except BackendUnavailable:
                return None

        with connection:
            yield answer

    def leave_room(self, before: int | None, most: int) -> None:
        """Have it give VPP no more than that. Routes that VPP has stay there: raises StepError if they are
        more, and BackendUnavailable; then ``before`` holds again.
        """
        self.set_most(most)
        if (held := self.state().in_vpp) > most:
            self.set_most(before)
            raise StepError(
                f"VPP has {held:,} routes, and beside what the configuration takes of its main heap there is"
                f" room for {most:,}. VPP ends when its heap is full: set main_heap_mb of /dataplane"
                " higher, which restarts VPP, or take fewer routes"
            )

    @contextmanager
    def lent(self, routes: int) -> Iterator[None]:
        """During the block VPP gets this many fewer routes than there is room for; the caller holds the turn.

        Raises Conflict if there is no room for that many in addition to those VPP has; BackendUnavailable.
        """
        state = self.state()
        if state.most_routes is None:
            raise Conflict("the feeder does not know yet how many routes VPP has room for: wait")
        free = state.most_routes - state.in_vpp
        if free < routes:
            raise Conflict(
                f"VPP has room for {max(free, 0):,} more routes, and a bench would take that of {routes:,}: "
                "take a smaller size, or enlarge main_heap_mb of /dataplane"
            )
        # A plan previewed during the block sets ``most_routes``, which does not affect this.
        self._lent = routes
        try:
            self._tell_most(state.most_routes - routes)
            if (held := self.state().in_vpp) > state.most_routes - routes:
                raise Conflict(f"VPP got routes meanwhile, and has {held:,}: try again")
            yield
        finally:
            self._lent = 0
            self._tell_most(state.most_routes if self.most_routes is None else self.most_routes)

    def health(self) -> PartHealth:
        """Up while it is connected to FRR and to VPP; never raises."""
        try:
            state = self.state()
        except BackendUnavailable as error:
            return PartHealth(state="down", detail=str(error), label=LABEL)
        if not state.vpp_connected:
            return PartHealth(state="down", detail=f"not connected to VPP: {state.vpp_error}", label=LABEL)
        if not state.frr_connected:
            return PartHealth(state="down", detail="FRR's zebra is not connected", label=LABEL)
        detail = f"{state.in_vpp:,} route{'s'[: state.in_vpp != 1]} in VPP"
        if state.pending:
            detail += f", {state.pending:,} on the way"
        return PartHealth(state="up", detail=detail, label=LABEL)

    def doubtful(self) -> Sequence[str]:
        """Routes of the default VRF that VPP does not have as given, although they were given again.

        Raises BackendUnavailable.
        """
        return [name for name in self.state().compared.named if IN_TABLE not in name]

    def caught_up(self, timeout_s: float) -> bool:
        """Wait until VPP has everything that FRR has announced so far; False if the time ends first.

        Raises BackendUnavailable.
        """
        with self._asked(f"barrier {round(timeout_s * 1000)}", timeout_s + _ANSWER_S) as told:
            return bool(told.get("reached"))

    def tell_again(self, prefix: str) -> bool:
        """Have a route given to VPP again; False if FRR wants none. Raises BackendUnavailable."""
        with self._asked(f"again {prefix}", _ANSWER_S) as told:
            return bool(told.get("wanted"))

    def route_counts(self, table: int = 0) -> Mapping[Family, Mapping[str, RouteCount]]:
        """Routes that FRR wants in a table of the FIB, by family and protocol. Raises BackendUnavailable."""
        with self._asked(f"protocols {table}", _ANSWER_S) as told, _as_it_should_be():
            return {family: route_counts(family, told[family]) for family in FAMILIES}

    def route_page(
        self, family: Family, query: RoutesQuery, offset: int, limit: int, table: int = 0
    ) -> FedPage:
        """A page of these routes in the order of their prefixes. Raises BackendUnavailable."""
        question = page_question(family, query, offset, limit, table)
        with self._asked(question, _ANSWER_S) as told, _as_it_should_be():
            return read_page(family, told)

    @contextmanager
    def vacated(self, name: str) -> Iterator[None]:
        """During the block VPP has no route over the mirror, and gets none. Raises StepError."""
        with ExitStack() as stack:
            try:
                told = stack.enter_context(
                    self._asked(f"vacate {name} {round(VACATE_S * 1000)}", VACATE_S + _ANSWER_S)
                )
            except BackendUnavailable as error:
                raise StepError(f"the routes over {name} cannot be taken out of VPP: {error}") from error
            if not told.get("reached"):
                raise StepError(
                    f"the feeder did not take the routes over {name} out of VPP within {VACATE_S:.0f} s"
                    f" (changes on the way: {told.get('pending')})"
                )
            yield

    @contextmanager
    def _asked(self, question: str, timeout_s: float) -> Iterator[Mapping[str, Any]]:
        """The answer; the connection stays for the block."""
        with self._ask(question, timeout_s) as connection:
            yield self._answer(connection, question)

    def _ask(self, question: str, timeout_s: float) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(timeout_s)
        try:
            connection.connect(str(self._path))
            connection.sendall(f"{question}\n".encode())
        except OSError as error:
            connection.close()
            raise self._silent(error) from error
        return connection

    def _answer(self, connection: socket.socket, question: str) -> Mapping[str, Any]:
        try:
            with connection.makefile("rb") as answers:
                told = json.loads(answers.readline(_LONGEST_LINE_BYTES))
        except (OSError, ValueError) as error:
            raise self._silent(error) from error
        if not isinstance(told, dict) or "error" in told:
            raise BackendUnavailable(NAME, f"{LABEL} does not understand {question!r}: {told}")
        return told

    def _silent(self, error: Exception) -> BackendUnavailable:
        return BackendUnavailable(NAME, f"{LABEL} at {self._path} does not answer: {error}")


@contextmanager
def _as_it_should_be() -> Iterator[None]:
    try:
        yield
    except (KeyError, TypeError, ValueError) as error:
        raise BackendUnavailable(NAME, f"what it says is not as it should be: {error}") from error


def _state(told: Mapping[str, Any]) -> FeederState:
    zebra, vpp = told["zebra"], told["vpp"]
    return FeederState.model_validate(
        {
            **told,
            "carrier": NAME,
            "frr_connected": zebra["connected"],
            "frr_told_all": not zebra["resync"],
            "unsupported": zebra["unsupported"],
            "vpp_connected": vpp["connected"],
            "vpp_error": vpp["error"],
            "vpp_swept": vpp["connected"] and not vpp["sweep_due"],
            "given": vpp["given"],
            "withdrawn": vpp["taken"],
            "compared": _compared(told["proof"]),
            "refusals": {meaning(int(retval)): count for retval, count in vpp["refusals"].items()},
        }
    )


def _named(route: Mapping[str, Any]) -> str:
    return f"{route['prefix']}{IN_TABLE}{route['table']}" if route["table"] else str(route["prefix"])


def _compared(told: Mapping[str, Any]) -> dict[str, Any]:
    last = told["last_pass"]
    return {
        "checked": told["checked"],
        "told_again": told["told_again"],
        "differing": told["differing"],
        "named": [_named(one) for one in told["named"]],
        **(
            {}
            if last is None
            else {"routes": last["routes"], "took_s": last["took_ms"] / 1000, "ended_s": last["ended_s"]}
        ),
    }
