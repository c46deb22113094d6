"""The programs in a lab's namespaces: neighbours, FRR, VPP and traffic, under supervision."""

import sys
from collections.abc import Callable
from pathlib import Path

from lab import addressing as at
from lab import bgp_index, bird_peers, confined, frr_daemons
from lab.layout import Layout
from lab.namespaces import Dataplane, Namespaces, enter
from lab.supervision import Program

REPOSITORY = Path(__file__).resolve().parent.parent

_FRR, _PEERS, _TRAFFIC = 20, 30, 90
_LAST_NICE = 10
"""Everything else goes before a search."""


def peer_programs(directory: Path, names: Namespaces) -> list[Program]:
    """The WAN peer and the core neighbour; writes their configurations."""
    programs = []
    for name, namespace, config in (
        ("wan-peer", names.wan, bird_peers.wan_config()),
        ("core-neighbour", names.core, bird_peers.core_config()),
    ):
        path = directory / f"{name}.conf"
        path.write_text(config)
        control = directory / "run" / f"{name}.ctl"
        programs.append(Program(name, enter(namespace, bird_peers.argv(path, control)), priority=_PEERS))
    return programs


def frr_programs(names: Namespaces, dataplane: Dataplane) -> list[Program]:
    """FRR's daemons in the router's namespace; all but mgmtd and zebra wait for zebra's socket."""
    zserv = frr_daemons.vty_dir(names.router) / "zserv.api"
    after_zebra = [sys.executable, "-m", "lab.after", str(zserv), "--"]
    return [
        Program(
            daemon,
            [
                *(() if daemon in ("mgmtd", "zebra") else after_zebra),
                *enter(names.router, frr_daemons.argv(daemon, names.router, dataplane)),
            ],
            priority=_FRR + order,
            directory=REPOSITORY,
        )
        for order, daemon in enumerate(frr_daemons.daemons())
    ]


def frr_watch(directory: Path, names: Namespaces) -> Program:
    """Restarts FRR's other daemons when zebra dies."""
    leaning = [name for name in frr_daemons.daemons() if name not in ("mgmtd", "zebra")]
    zserv = frr_daemons.vty_dir(names.router) / "zserv.api"
    argv = [sys.executable, "-m", "lab.frr_watch", str(directory), str(zserv), *leaning]
    return Program("frr-watch", argv, priority=_PEERS, directory=REPOSITORY)


def index_program(layout: Layout, names: Namespaces, say: Callable[[str], None]) -> Program | None:
    """The search index of BGP routes, next to bgpd; None where this machine cannot run one."""
    if bgp_index.lacking() is not None:
        return None

    def argv(program: Path) -> list[str]:
        options = ("--bmp-user", confined.FRR_USER)
        return bgp_index.argv(program, socket=layout.bgp_index_socket, options=options)

    command = confined.command(layout, "bgp-index", layout.bgp_index_socket, argv, say)
    return Program("bgpindex", enter(names.router, command), priority=_PEERS, nice=_LAST_NICE)


def traffic_programs(names: Namespaces) -> list[Program]:
    """Gentle traffic in both directions between the LAN host and the two far hosts, and pings."""
    lan, wan, core = at.LAN.far_v4.ip, at.WAN_HOST.far_v4.ip, at.CORE_HOST.far_v4.ip
    lan6, wan6 = at.LAN.far_v6.ip, at.WAN_HOST.far_v6.ip
    flows = (
        ("traffic-lan", names.lan, ("--to", f"{wan}", "--to", f"{core}", "--to", f"{wan6}")),
        ("traffic-wan", names.wan_host, ("--to", f"{lan}", "--to", f"{lan6}")),
        ("traffic-core", names.core_host, ("--to", f"{lan}")),
    )
    programs = [
        Program(
            name,
            enter(namespace, [sys.executable, "-m", "lab.gentle_traffic", *arguments]),
            priority=_TRAFFIC,
            directory=REPOSITORY,
        )
        for name, namespace, arguments in flows
    ]
    pings = (("ping-wan", str(wan)), ("ping-core", str(core)), ("ping-wan6", str(wan6)))
    programs += [
        Program(name, enter(names.lan, ["ping", "-n", "-q", "-i", "1", address]), priority=_TRAFFIC)
        for name, address in pings
    ]
    return programs
