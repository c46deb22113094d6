"""What the agent does not load: each of these is megabytes for as long as the router runs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

UNUSED = {
    "httpx": "the client of the agent, which is the other end",
    "typer": "a command line for one option",
    "xmlrpc": "the lab's supervisor",
    "pyroute2.ipdb": "pyroute2's package imports all of its families",
    "pyroute2.ndb": "pyroute2's package imports all of its families",
    "pyroute2.netlink.nl80211": "pyroute2's package imports all of its families",
    "pyroute2.netlink.nfnetlink": "pyroute2's package imports all of its families",
    "prompt_toolkit": "the command line",
    "rich": "the command line",
}


def _loaded(*imports: str) -> set[str]:
    code = f"import json, sys\nimport {', '.join(imports)}\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


@pytest.mark.parametrize("backend", ["linux", "vpp"])
def test_the_agent_loads_nothing_that_it_does_not_use(backend: str) -> None:
    loaded = _loaded("appliance.agent.__main__", f"appliance.dataplane.{backend}.backend")
    assert f"appliance.dataplane.{backend}.backend" in loaded and "pyroute2.iproute" in loaded
    assert not {name: UNUSED[name] for name in UNUSED.keys() & loaded}


def test_the_linux_data_plane_needs_nothing_of_vpp() -> None:
    assert "vpp_papi" not in _loaded("appliance.agent.__main__", "appliance.dataplane.linux.backend")


@pytest.mark.parametrize("first", ["appliance.routing.known_addresses", "appliance.agent.caller_path"])
def test_pyroute2_is_bare_whatever_is_imported_first(first: str) -> None:
    loaded = _loaded(first)
    assert "pyroute2.netlink.exceptions" in loaded
    assert "pyroute2.ndb" not in loaded
