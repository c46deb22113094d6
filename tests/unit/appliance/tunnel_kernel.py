"""Tunnels of a simulated kernel, for tests of what is asked of it."""

from __future__ import annotations

import errno
from typing import Any

from pyroute2.netlink.exceptions import NetlinkError

Json = dict[str, Any]


class TunnelKernel:
    """Stands for an ``Access`` and its rtnetlink socket at once: tunnels by their ends, each pair once."""

    def __init__(self) -> None:
        self.links: dict[int, Json] = {}

    @property
    def route(self) -> TunnelKernel:
        return self

    def index(self, name: str) -> int | None:
        return next((index for index, link in self.links.items() if link["ifname"] == name), None)

    def link(self, verb: str, **fields: Any) -> None:
        if verb == "add":
            kind = fields["kind"]
            ends = fields[f"{kind}_local"], fields[f"{kind}_remote"]
            if any(ends == link["ends"] for link in self.links.values()):
                raise NetlinkError(errno.EEXIST, "there is one")
            made = {"mtu": 1400, "state": "down", "ifalias": "", **fields, "ends": ends}
            self.links[max(self.links, default=0) + 1] = made
        elif verb == "del":
            del self.links[fields["index"]]
        else:
            self.links[fields.pop("index")].update(fields)

    def get_links(self) -> list[Any]:
        return [_Message(index, link) for index, link in self.links.items()]


class _Message(dict[str, Any]):
    """A link as netlink reports it."""

    def __init__(self, index: int, link: Json) -> None:
        super().__init__(index=index, flags=int(link["state"] == "up"))
        kind = link["kind"].upper()
        data = {f"IFLA_{kind}_LOCAL": link["ends"][0], f"IFLA_{kind}_REMOTE": link["ends"][1]}
        about = {"IFLA_INFO_KIND": link["kind"], "IFLA_INFO_DATA": _nested(data)}
        known = {"IFLA_IFNAME": link["ifname"], "IFLA_MTU": link["mtu"], "IFLA_IFALIAS": link["ifalias"]}
        self["attrs"] = [*known.items(), ("IFLA_LINKINFO", _nested(about))]


def _nested(known: Json) -> Json:
    return {"attrs": list(known.items())}
