"""GRUB's block, the slots of a command line, keys, health: each alone."""

import dataclasses
from pathlib import Path

import pytest

from appliance.state.bgp import BgpNeighborState, BgpState
from appliance.state.interfaces import Interfaces, InterfaceState
from appliance.state.ospf import OspfNeighborState, OspfState
from appliance.upgrade import grubenv, health, signing, slots
from appliance.upgrade.errors import UpgradeRefused
from appliance.upgrade.health import Facts
from tests.unit.upgrade.appliance_on_disk import WELL, Appliance

# What Debian's grub-editenv makes of `create` and `set good=a try=`.
DEBIANS = b"# GRUB Environment Block\ngood=a\ntry=\n" + b"#" * (1024 - 37)


def test_the_block_is_grubs_own() -> None:
    assert len(DEBIANS) == 1024
    assert grubenv.parse(DEBIANS) == {"good": "a", "try": ""}
    assert grubenv.render({"good": "a", "try": ""}) == DEBIANS


def test_a_change_is_in_place(tmp_path: Path) -> None:
    """GRUB writes the file's blocks where they are: the same file, the same length."""
    path = tmp_path / "grubenv"
    path.write_bytes(grubenv.render({"good": "a", "other": "kept"}))
    inode = path.stat().st_ino
    grubenv.change(path, **{"try": "b"})
    assert (path.stat().st_ino, path.stat().st_size) == (inode, 1024)
    assert grubenv.read(path) == {"good": "a", "other": "kept", "try": "b"}


@pytest.mark.parametrize("block", [b"", DEBIANS[:-1], b"x" * 1024, DEBIANS + b"#"])
def test_a_damaged_block(block: bytes) -> None:
    with pytest.raises(UpgradeRefused, match="damaged"):
        grubenv.parse(block)


@pytest.mark.parametrize("variables", [{"a b": "x"}, {"a": "x\ny"}, {"a": "x" * 1024}, {"a": "$(x)"}])
def test_what_does_not_fit_a_block(variables: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="GRUB's environment block"):
        grubenv.render(variables)


@pytest.mark.parametrize(
    "line,slot",
    [
        ("millrace.slot=a", "a"),
        ("root=x millrace.slot=b panic=-1\n", "b"),
        ("ro xmillrace.slot=a", None),
        ("millrace.slot=c", None),
        ("millrace.slot=ab", None),
        ("", None),
    ],
)
def test_the_slot_of_a_command_line(line: str, slot: str | None) -> None:
    if slot is None:
        with pytest.raises(UpgradeRefused, match="two slots"):
            slots.running(line)
    else:
        assert slots.running(line) == slot


def test_a_slot_is_on_trial_until_it_is_good(router: Appliance) -> None:
    router.start("b", tried=True)
    assert slots.read(router.paths).on_trial
    grubenv.change(router.paths.environment_block, good="b")
    assert not slots.read(router.paths).on_trial


def test_records_that_do_not_read_are_no_records(router: Appliance) -> None:
    router.paths.state.mkdir(parents=True)
    for text in ("", "[]", "null", '{"a": 3}', '{"a": {"version": 1}}'):
        router.paths.contents.write_text(text)
        assert slots.read(router.paths).contents == {}


def test_a_key_is_made_once_and_private(tmp_path: Path) -> None:
    key = tmp_path / "keys/key.pem"
    signing.make_key(key)
    first = key.read_bytes()
    signing.make_key(key)
    assert key.read_bytes() == first
    assert key.stat().st_mode & 0o777 == 0o600


def test_signatures(tmp_path: Path) -> None:
    for name in ("mine", "other"):
        signing.make_key(tmp_path / name)
    (tmp_path / "mine.pub").write_bytes(signing.public_pem(tmp_path / "mine"))
    signing.verify(tmp_path / "mine.pub", b"data", signing.sign(tmp_path / "mine", b"data"))
    for signature in (
        signing.sign(tmp_path / "mine", b"other data"),
        signing.sign(tmp_path / "other", b"data"),
        b"",
        bytes(64),
    ):
        with pytest.raises(UpgradeRefused, match="not signed by the maker"):
            signing.verify(tmp_path / "mine.pub", b"data", signature)
    with pytest.raises(UpgradeRefused, match="no key for upgrades"):
        signing.verify(tmp_path / "absent.pub", b"data", b"")
    (tmp_path / "text").write_text("no key")
    with pytest.raises(UpgradeRefused, match="not a private key"):
        signing.sign(tmp_path / "text", b"data")


@pytest.mark.parametrize(
    "worse,said",
    [
        ({"revision": 6}, "revision 6 runs, not 7"),
        ({"drift": ("create lan0",)}, "not as committed: create lan0"),
        ({"down": {"vpp": "no socket"}}, "vpp is down: no socket"),
        ({"links_up": frozenset({"lan0"})}, "the link of wan0 is not back"),
        ({"bgp_established": frozenset()}, "the BGP session with 192.0.2.1 is not back"),
        ({"ospf_full": frozenset()}, "the OSPF adjacency with 192.0.2.130 on lan0 is not back"),
        ({"services": {**WELL.services, "nginx": "failed"}}, "the service nginx is failed"),
    ],
)
def test_what_is_worse_than_before(worse: dict[str, object], said: str) -> None:
    assert health.missing(health.before(WELL), WELL) == []
    seen: Facts = dataclasses.replace(WELL, **worse)  # type: ignore[arg-type]  # one field each
    assert health.missing(health.before(WELL), seen) == [said]


def test_what_is_better_than_before_is_well() -> None:
    more = dataclasses.replace(WELL, revision=9, links_up=WELL.links_up | {"lan1"})
    assert health.missing(health.before(WELL), more) == []


def test_facts_from_the_agents_answers() -> None:
    found = health.facts(
        {"revision": 3, "drift": ["x"], "health": {"vpp": {"state": "up"}, "frr": {"state": "down"}}},
        Interfaces(
            interfaces=tuple(
                InterfaceState(name=name, type="ethernet", enabled=True, link=link, mtu=1500)
                for name, link in (("lan0", "up"), ("wan0", "down"))
            )
        ),
        BgpState(
            neighbors={
                "192.0.2.1": BgpNeighborState(state="Established"),
                "192.0.2.5": BgpNeighborState(state="Active"),
            }
        ),
        OspfState(
            neighbors=(
                OspfNeighborState(router_id="1.1.1.1", interface="lan0", state="Full/DR"),
                OspfNeighborState(router_id="2.2.2.2", interface="lan0", state="2-Way"),
            )
        ),
        {"ssh": "running"},
    )
    assert found == Facts(
        revision=3,
        drift=("x",),
        down={"frr": ""},
        links_up=frozenset({"lan0"}),
        bgp_established=frozenset({"192.0.2.1"}),
        ospf_full=frozenset({"1.1.1.1 on lan0"}),
        services={"ssh": "running"},
    )
