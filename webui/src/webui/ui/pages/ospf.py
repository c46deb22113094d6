"""OSPF: neighbors, interfaces and areas."""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from appliance.actions.ospf import CLEAR_OSPF_NEIGHBOR
from appliance.state.ospf import OSPF, OspfState
from appliance.state.ospf_database import OSPF_DATABASE, TYPES, LsaState, OspfDatabase
from webui.ui.pages.vrfs import has_vrfs
from webui.ui.state import OspfRow, ospf_neighbors
from webui.ui.tables.declaration import (
    Column,
    Fact,
    Instance,
    Live,
    Look,
    Page,
    RowAction,
    Search,
    SearchField,
    Table,
)
from webui.ui.tables.row import Row


def _neighbors(answer: OspfState) -> Mapping[str, OspfRow]:
    return {f"{one.router_id} {one.interface}": one for one in ospf_neighbors(answer)}


def _facts(now: Mapping[str, Any], after: Mapping[str, Any], live: OspfState | None) -> Iterator[Fact]:
    running = (live.router_id if live else None) or now.get("router_id")
    yield Fact("Router ID", running or "automatic", after.get("router_id") or "automatic")


def _in_all(row: Row) -> str:
    """ospfd clears a router ID in every VRF that has it."""
    return " in every VRF that has some" if has_vrfs(row.candidate) else ""


def _type(row: Row) -> str:
    return "passive" if row.said("passive") else str(row.said("network_type", "broadcast"))


_INSTANCE = Instance(
    pointer="/routing/ospf",
    absent="OSPF does not run.",
    setup="Set up OSPF",
    facts=_facts,
    part=OSPF,
)

PAGE = Page(
    name="ospf",
    path="ospf",
    title="OSPF",
    icon="topology-star-3",
    group="Routing",
    order=30,
    key="o",
    instance=_INSTANCE,
    tables=(
        Table(
            name="ospf_neighbors",
            noun="OSPF neighbor",
            plural="Neighbors",
            key_title="Neighbor",
            mono=True,
            live=Live(OSPF, _neighbors),
            below=lambda row: row.live("address"),
            actions=(
                RowAction(
                    CLEAR_OSPF_NEIGHBOR,
                    "Clear the adjacency",
                    "refresh",
                    lambda row: {"neighbor": row.live("router_id")},
                    lambda row: (
                        f"Clear the adjacencies with {row.live('router_id')}{_in_all(row)}? "
                        "They are set up again; routes over them are gone until then."
                    ),
                ),
            ),
            columns=(
                Column("interface", "Interface", live=True),
                Column("state", "State", look=Look.STATE, live=True),
                Column("uptime_s", "For", look=Look.DURATION, live=True),
                Column("dead_in_s", "Dead in", look=Look.DURATION, live=True),
            ),
            empty="No OSPF neighbor is seen.",
        ),
        Table(
            name="ospf_interfaces",
            noun="OSPF interface",
            plural="Interfaces",
            key_title="Interface",
            mapping="/routing/ospf/interfaces",
            live=Live(OSPF, lambda answer: answer.interfaces, only_live=False),
            columns=(
                Column("area", look=Look.MONO),
                Column(title="Type", value=_type),
                Column(
                    title="Cost",
                    look=Look.NUMBER,
                    value=lambda row: row.said("cost") or row.live("cost", "auto"),
                ),
                Column(
                    title="Hello, s", look=Look.NUMBER, value=lambda row: row.said("hello_interval_s", 10)
                ),
                Column(title="Dead, s", look=Look.NUMBER, value=lambda row: row.said("dead_interval_s", 40)),
                Column(title="Authentication", value=lambda row: row.said("authentication.type", "none")),
                Column("state", "State", live=True),
            ),
            empty="OSPF runs on no interface.",
        ),
        Table(
            name="ospf_areas",
            noun="OSPF area",
            plural="Areas",
            key_title="Area",
            mapping="/routing/ospf/areas",
            live=Live(OSPF, lambda answer: answer.areas),
            mono=True,
            columns=(
                Column(
                    title="Type",
                    value=lambda row: (
                        row.said("type", "normal") + (", totally stubby" if row.said("no_summary") else "")
                    ),
                ),
                Column("lsas", "LSAs", look=Look.NUMBER, live=True),
            ),
            empty="Every area is a normal one, so none needs to be listed.",
        ),
    ),
)


def _by_id(answer: OspfDatabase) -> Iterator[tuple[str, LsaState]]:
    return ((lsa.lsa_id, lsa) for lsa in answer.lsas)


def _lsa(row: Row) -> str:
    lsa: LsaState = row.state
    area = "?" + urlencode({"area": lsa.area}) if lsa.area else ""
    return reverse("ui:ospf_lsa", args=[lsa.type, lsa.lsa_id, lsa.advertising_router]) + area


DATABASE = Page(
    name="ospf_database",
    path="ospf/database",
    title="OSPF database",
    icon="database",
    group="Routing",
    order=31,
    instance=_INSTANCE,
    tables=(
        Table(
            name="ospf_lsas",
            noun="LSA",
            plural="LSAs",
            key_title="Link state ID",
            mono=True,
            below=lambda row: row.live("about"),
            leads_to=_lsa,
            search=Search(
                OSPF_DATABASE,
                (
                    SearchField("type", "Type", choices=TYPES),
                    SearchField("lsa_id", "Link state ID", "198.51.100.0"),
                    SearchField("area", "Area", "0.0.0.0"),
                    SearchField("advertising_router", "Advertising router", "192.0.2.1"),
                ),
                _by_id,
                note=lambda answer: answer.note,
            ),
            columns=(
                Column("type", "Type", live=True),
                Column(title="Area", look=Look.MONO, value=lambda row: row.live("area") or "whole AS"),
                Column("advertising_router", "Advertising router", look=Look.MONO, live=True),
                Column("age_s", "Age", look=Look.DURATION, live=True),
                Column("sequence", "Sequence", look=Look.MONO, live=True),
                Column("checksum", "Checksum", look=Look.MONO, live=True),
                Column("length_bytes", "Length, bytes", look=Look.NUMBER, live=True),
            ),
            empty="The database is empty.",
        ),
    ),
)
