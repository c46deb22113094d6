"""Searching BGP routes: the question to the index, and the meaning of its answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from appliance.engine.backend import BackendUnavailable
from appliance.errors import MillraceError
from appliance.features.bgp.index_client import NAME
from appliance.state.bgp_search import (
    NO_BGP,
    NO_INDEX,
    SHORTENED,
    TRUNCATED,
    BgpIndexState,
    BgpSearch,
    BgpSearchQuery,
    FoundRoute,
)

if TYPE_CHECKING:
    from appliance.agent.router import Router


def search(router: Router, asked: BgpSearchQuery) -> BgpSearch:
    """A page of the index's matches. Raises BackendUnavailable."""
    window: dict[str, Any] = {"family": asked.searched_family, "offset": asked.offset, "limit": asked.limit}
    if (why := _absent(router)) or router.bgp_index is None:
        return BgpSearch(state="absent", note=why, **window)
    told = router.bgp_index.search(asked.searched_family, asked.terms())
    with _as_it_should_be():
        return BgpSearch(
            state=told["state"],
            complete=told["complete"],
            truncated=told["truncated"],
            note=_note(told),
            routes=tuple(map(_route, told["rows"])),
            total=told["matching"],
            read=told["read"],
            expected=_expected(router) if told["state"] == "reading" else None,
            **window,
        )


def index_state(router: Router) -> BgpIndexState:
    """The status of the index, which starts nothing. Raises BackendUnavailable."""
    if (why := _absent(router)) or router.bgp_index is None:
        return BgpIndexState(state="absent", why=why)
    told = router.bgp_index.status()
    with _as_it_should_be():
        neighbors = [{**one, "asn": one["as"]} for one in told["neighbors"]]
        return BgpIndexState.model_validate({**told, "why": told["why"] or "", "neighbors": neighbors})


def _absent(router: Router) -> str:
    """Why there is nothing to search; empty if there is."""
    if router.bgp_index is None:
        return NO_INDEX
    return NO_BGP if router.engine.running_config.routing.bgp is None else ""


def _note(told: Mapping[str, Any]) -> str:
    if told["state"] == "connecting":
        return f"bgpd does not send its routes to the index: {told['why'] or 'it does not answer yet'}."
    said = [f"{told['why'][:1].upper()}{told['why'][1:]}."] if told["why"] else []
    return " ".join(
        [*said, *([TRUNCATED] if told["truncated"] else []), *([SHORTENED] if told.get("shortened") else [])]
    )


def _route(row: Mapping[str, Any]) -> FoundRoute:
    return FoundRoute.model_validate(
        {**row, "neighbor_asn": row.get("neighbor_as"), "age_s": row.get("received_s")}
    )


def _expected(router: Router) -> int | None:
    """Routes accepted from all neighbors, as bgpd counts them; None if it does not answer now."""
    with suppress(MillraceError):
        neighbors = router.routing.bgp_state().neighbors.values()
        families = [family for one in neighbors for family in one.families.values()]
        return sum(family.prefixes_received or 0 for family in families)
    return None


@contextmanager
def _as_it_should_be() -> Iterator[None]:
    try:
        yield
    except (KeyError, TypeError, AttributeError) as error:
        raise BackendUnavailable(NAME, f"what it says is not as it should be: {error!r}") from error
