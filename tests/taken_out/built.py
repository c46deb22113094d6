"""Builds all that the product in a folder consists of, and says in JSON what it is and what failed.

Run by itself, with the folder's sources on PYTHONPATH: nothing of it may come from another place.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

PACKAGES = ("appliance", "webui", "frr_config", "vpp_config", "planner")
DRIVERS: tuple[Literal["linux", "vpp"], ...] = ("linux", "vpp")


def modules(tree: Path) -> list[str]:
    """Every module of the product, by its name."""
    names = []
    for source in sorted(tree.glob("*/src")):
        for path in sorted(source.rglob("*.py")):
            name = ".".join(path.relative_to(source).with_suffix("").parts)
            names.append(name.removesuffix(".__init__"))
    return names


def failing(names: list[str]) -> list[str]:
    """Those that cannot be imported, and why."""
    failed = []
    for name in names:
        try:
            importlib.import_module(name)
        except Exception as error:
            failed.append(f"{name}: {error!r}")
    return failed


def schema() -> dict[str, Any]:
    """The document's sections and the kinds of interface."""
    from appliance.config import schema as document

    return {
        "sections": sorted(document.json_schema()["properties"]),
        "kinds": document.at("/interfaces/new/type")["enum"],
    }


def compiled(document: dict[str, Any]) -> dict[str, int]:
    """How many objects each plane has for the document. The fake VPP takes its own, and then has them all."""
    from appliance.compile import CompileContext, compile_document
    from appliance.config.capabilities import Capabilities
    from appliance.config.load import parse_document
    from appliance.config.validate import require_valid
    from appliance.dataplane.nic import Nic
    from vpp_config import Session, plan
    from vpp_config.fake import FakeVpp

    config = parse_document(document)
    nics = tuple(Nic(f"eth{number}", f"02:4d:52:00:00:0{number}", kind="veth") for number in range(4))
    made = {}
    for driver in DRIVERS:
        require_valid(config, Capabilities(driver))
        made[driver] = compile_document(config, driver, CompileContext(nics))[driver]
    wanted, session = made["vpp"].objects, Session(FakeVpp())
    for step in plan(wanted, session.observe()):
        session.apply(step)
    left = [step.summary for step in plan(wanted, session.observe())]
    assert left == [], left
    return {"linux": len(made["linux"]), "vpp": len(wanted)}


def refused(document: dict[str, Any]) -> list[list[str]]:
    """Places and reasons for which the document is refused."""
    from appliance.config.load import parse_document
    from appliance.errors import ValidationFailed

    try:
        parse_document(document)
    except ValidationFailed as error:
        return [[problem.pointer, problem.message] for problem in error.problems]
    return []


def agent(folder: Path) -> list[str]:
    """Paths that the agent serves, on either plane."""
    from appliance.agent import wiring
    from appliance.agent.application import application
    from appliance.agent.settings import AgentSettings

    paths: set[str] = set()
    for driver in DRIVERS:
        own: Any = {name: folder / driver / name for name in ("socket", "state_dir", "host_root")}
        own |= {name: folder / driver / name for name in ("frr_vty_dir", "frr_config_dir")}
        if driver == "vpp":
            own |= {name: folder / driver / name for name in ("vpp_api_socket", "vpp_stats_socket")}
        router = wiring.build(AgentSettings(dataplane=driver, netns="none", **own))
        served = application(router, frozenset()).router.routes()
        paths |= {str(route.resource.canonical) for route in served if route.resource is not None}
    return sorted(paths)


def web() -> dict[str, Any]:
    """What Django's check says, and the web's addresses, pages and API."""
    import django

    django.setup()
    from django.core.checks import run_checks
    from django.urls import reverse

    from webui.api.api import api
    from webui.ui.navigation import groups
    from webui.ui.pages import PANELS, TABLES

    return {
        "check": [str(message) for message in run_checks()],
        "metrics": reverse("metrics"),
        "tables": sorted(TABLES),
        "panels": len(PANELS),
        "menu": [entry.url for _, entries in groups() for entry in entries],
        "operations": sorted(api.get_openapi_schema()["paths"]),
    }


def command_line() -> list[str]:
    """What can be shown and cleared."""
    from appliance.actions import ACTIONS
    from appliance.cli.__main__ import _parser
    from appliance.cli.clear import USAGE
    from appliance.state import PARTS

    _parser().format_help()
    return [USAGE, *(part.where for part in PARTS), *(action.name for action in ACTIONS)]


def main(tree: Path, without: dict[str, Any], having: dict[str, Any]) -> dict[str, Any]:
    """Everything, and the failures by what was built."""
    told: dict[str, Any] = {}
    failures: list[str] = []

    def build(what: str, made: Callable[[], Any]) -> None:
        try:
            told[what] = made()
        except Exception as error:
            failures.append(f"{what}: {error!r}")

    build("schema", schema)
    build("compiled", lambda: compiled(without))
    build("refused", lambda: refused(having))
    build("agent", lambda: agent(tree / "run"))
    build("web", web)
    build("command line", command_line)
    build("modules", lambda: failing(modules(tree)))
    failures += told.pop("modules", [])
    strange = [
        str(module.__file__)
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] in PACKAGES and not str(module.__file__).startswith(f"{tree}/")
    ]
    return {**told, "failures": failures, "from elsewhere": strange}


if __name__ == "__main__":
    documents = json.load(sys.stdin)
    print(json.dumps(main(Path(sys.argv[1]), documents["without"], documents["having"])))
