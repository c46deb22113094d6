"""A configured neighbor turns hostile: it harms nobody else, and the name it gives itself stays text.

The whole campaign, with OSPF and IP, is tests/soak/test_hostile_peers.py.
"""

from __future__ import annotations

import os
import random
import ssl
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.live_lab import REPOSITORY, LiveLab, json_of
from tests.soak import hostile_neighbor
from tests.soak.bystanders import Bystanders

pytestmark = [pytest.mark.integration, pytest.mark.root]

_SEED, _MESSAGES = "millrace", 40


def _page(live: LiveLab, path: str) -> str:
    """A page as a signed-in browser gets it."""
    trust = ssl.create_default_context(cafile=live.environment["CA_FILE"])
    with httpx.Client(base_url=live.base_url, verify=trust, timeout=60) as browser:
        browser.get("/login")
        form = {
            "username": live.environment["USERNAME"],
            "password": live.environment["PASSWORD"],
            "csrfmiddlewaretoken": next(
                value for name, value in browser.cookies.items() if name.endswith("csrftoken")
            ),
        }
        signed_in = browser.post("/login", data=form, headers={"Referer": f"{live.base_url}/login"})
        assert signed_in.status_code == 302, signed_in.text
        response = browser.get(path)
    assert response.status_code == 200, response.text
    return response.text


def _shown(live: LiveLab, command: str) -> str:
    """What the command line prints."""
    argv = [str(Path(sys.executable).with_name("millrace")), "-c", command]
    environment = {**os.environ, "MILLRACE_AGENT_SOCKET": live.environment["AGENT_SOCKET"]}
    done = subprocess.run(
        argv, env=environment, cwd=REPOSITORY, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_hostile_neighbor_harms_nobody_and_its_words_stay_text(live: LiveLab) -> None:
    with hostile_neighbor.configured(live):
        before = Bystanders.now(live)
        told = hostile_neighbor.attack(live, random.Random(_SEED), _MESSAGES)
        assert told["sessions"] > 1
        assert before.harmed() == []

        address = hostile_neighbor.ADDRESS
        detail = json_of(live.api.get(f"/state/bgp/neighbors/{address}"))["detail"]
        assert "<img" in str(detail) or "<script" in str(detail), f"nothing hostile reached the API: {detail}"
        path = f"/bgp/neighbors/{address}"
        assert hostile_neighbor.misread("the page", _page(live, path)) == []
        for command in (f"show bgp neighbors {address}", "show bgp", f"show bgp neighbors {address} | json"):
            shown = _shown(live, command)
            assert not [found for found in hostile_neighbor.misread(command, shown) if "control" in found]
