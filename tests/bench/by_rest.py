"""The duration of a user's requests, from the request to the whole answer, over TLS and with a token.

The lab's web server answers itself; an appliance has nginx in front of it.
"""

from __future__ import annotations

import os
import re
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from tests.live_lab import LiveLab, patch, wait_until

ROUNDS = int(os.environ.get("MILLRACE_BENCH_ROUNDS", "100"))
"""Requests of each kind."""
_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


def one_line(number: int) -> dict[str, Any]:
    """A merge patch that changes one value, another one for each number: a static route, an ACL rule, a route
    map, a description.
    """
    match number % 4:
        case 0:
            hops = {"next_hops": [{"address": "10.20.0.2"}]}
            return {"routing": {"static": {f"100.{127 - number // 256}.{number % 256}.0/24": hops}}}
        case 1:
            rule = {"action": "deny", "protocol": "udp", "destination_ports": str(2000 + number)}
            return {"acls": {"large": {"rules": {"59000": rule}}}}
        case 2:
            rules = {"10": {"action": "permit", "set": {"local_preference": 100 + number}}}
            return {"routing": {"policy": {"route_maps": {"BENCH": {"rules": rules}}}}}
        case _:
            return {"interfaces": {"lan0": {"description": f"round {number}"}}}


def times_ms(action: Callable[[int], object], rounds: int = ROUNDS) -> list[float]:
    """The duration of the action, called each time with the number of the round."""
    taken = []
    for number in range(rounds):
        began_s = time.perf_counter()
        action(number)
        taken.append((time.perf_counter() - began_s) * 1000)
    return taken


def wait_up(live: LiveLab) -> None:
    """Every part of the router is up, as after a commit that starts VPP anew."""

    def up() -> bool:
        try:
            answer = live.api.get("/state/health")
        except httpx.HTTPError:
            return False
        parts = answer.json()["parts"].values() if answer.status_code == 200 else ()
        return bool(parts) and all(part["state"] == "up" for part in parts)

    wait_until(up, timeout_s=120, what="every part of the router up")


def previews_ms(live: LiveLab) -> list[float]:
    """Of one line each."""
    return times_ms(lambda number: patch(live, one_line(number), "dry_run=true"))


def commits_ms(live: LiveLab) -> list[float]:
    """Of one line each; every one makes a revision."""
    return times_ms(lambda number: patch(live, one_line(number)))


@contextmanager
def signed_in(live: LiveLab) -> Iterator[httpx.Client]:
    """A browser's session of the lab's administrator."""
    base = live.base_url
    trusted = ssl.create_default_context(cafile=live.environment["CA_FILE"])
    with httpx.Client(base_url=base, verify=trusted, timeout=60) as http:
        form = {"username": live.environment["USERNAME"], "password": live.environment["PASSWORD"]}
        token = _TOKEN.search(http.get("/login").text)
        assert token is not None
        form["csrfmiddlewaretoken"] = token[1]
        assert http.post("/login", data=form, headers={"Referer": f"{base}/login"}).status_code == 302
        yield http
