"""The index next to a bgpd simulated by a test: what it reads and finds, and its behavior when bgpd fails."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests import bmp_stream as bmp
from tests import requirements
from tests.bgp_index_process import BgpIndex

ONE = bmp.Peer("192.0.2.1", 65001)
TWO = bmp.Peer("192.0.2.2", 65002)
SIX = bmp.Peer("2001:db8::3", 65003)
OWN = bmp.Peer(None, 65000)
ENDS = bmp.end_of_rib(ONE, 4), bmp.end_of_rib(ONE, 6)


def _paths() -> list[bytes]:
    rich = (
        bmp.attribute(1, b"\0")
        + bmp.as_path([65000, 65001, 65010], frozenset({65020, 65021}))
        + bmp.next_hop("192.0.2.1")
        + bmp.attribute(4, (50).to_bytes(4))
        + bmp.attribute(6, b"")
        + bmp.attribute(7, (65010).to_bytes(4) + bytes([192, 0, 2, 1]))
        + bmp.communities((65001, 100), (65535, 65281))
        + bmp.large_communities((65001, 1, 2))
        + bmp.attribute(16, bytes.fromhex("0002fde800000001"))
    )
    plain = bmp.as_path([65000, 65002, 65010, 65030]) + bmp.next_hop("192.0.2.2")
    sixth = bmp.as_path([65000, 65003, 65010]) + bmp.communities((65003, 6))
    return [
        bmp.announcement(ONE, "10.0.0.0/8", rich, at_s=int(time.time()) - 1000),
        bmp.announcement(TWO, "10.0.0.0/8", plain),
        bmp.announcement(TWO, "10.1.0.0/16", plain),
        bmp.announcement(ONE, "10.1.2.0/24", bmp.as_path([65000, 65001]) + bmp.next_hop("192.0.2.1")),
        bmp.announcement(OWN, "198.51.100.0/24", bmp.attribute(2, b"") + bmp.next_hop("0.0.0.0")),
        bmp.announcement(SIX, "2001:db8:f::/48", sixth, hop="2001:db8::3"),
    ]


def _tell(bgpd: bmp.Listener) -> None:
    """The whole table, as bgpd sends it to a new connection."""
    bgpd.accept()
    bgpd.send(bmp.initiation(), *(bmp.peer_up(peer) for peer in (ONE, TWO, SIX)), *_paths(), *ENDS)


@contextmanager
def _beside(bgpd: bmp.Listener, directory: Path, *options: str) -> Iterator[BgpIndex]:
    requirements.require_rustc()
    with BgpIndex(directory, f"127.0.0.1:{bgpd.port}", options=options) as index:
        yield index


@pytest.fixture
def bgpd() -> Iterator[bmp.Listener]:
    """A listener."""
    with bmp.Listener() as listener:
        yield listener


@pytest.fixture
def index(bgpd: bmp.Listener, tmp_path: Path) -> Iterator[BgpIndex]:
    """An index that nobody has asked yet."""
    with _beside(bgpd, tmp_path) as index:
        yield index


@pytest.fixture
def ready(bgpd: bmp.Listener, index: BgpIndex) -> BgpIndex:
    """An index that has read all paths."""
    index.search("ipv4 wait=0")
    _tell(bgpd)
    index.wait_for("ready")
    return index


def test_nothing_is_read_before_somebody_searches(bgpd: bmp.Listener, index: BgpIndex) -> None:
    """The status asks bgpd nothing; the first search connects, and says that the table is being read."""
    status = index.status()
    assert (status["state"], status["why"], status["idle_s"], status["neighbors"]) == ("idle", None, None, [])
    assert status["ipv4"] == status["ipv6"] == {"routes": 0, "paths": 0}
    assert not bgpd.is_asked()
    found = index.search("ipv4 wait=0")
    assert (found["state"], found["complete"], found["matching"], found["rows"]) == ("reading", False, 0, [])
    _tell(bgpd)
    status = index.wait_for("ready")
    assert status["ipv4"] == {"routes": 4, "paths": 5} and status["ipv6"] == {"routes": 1, "paths": 1}
    assert (status["attributes"], status["truncated"], status["malformed"]) == (5, False, 0)
    assert status["memory_bytes"] > 0 and 0 < status["idle_s"] <= 900
    assert {neighbor["address"]: neighbor for neighbor in status["neighbors"]} == {
        "192.0.2.1": {"address": "192.0.2.1", "as": 65001, "up": True, "ipv4": 2, "ipv6": 0},
        "192.0.2.2": {"address": "192.0.2.2", "as": 65002, "up": True, "ipv4": 2, "ipv6": 0},
        "2001:db8::3": {"address": "2001:db8::3", "as": 65003, "up": True, "ipv4": 0, "ipv6": 1},
        "self": {"address": "self", "as": 65000, "up": True, "ipv4": 1, "ipv6": 0},
    }


def test_a_search_waits_for_the_table_as_long_as_it_is_told_to(bgpd: bmp.Listener, index: BgpIndex) -> None:
    """It is answered when everything is there, and is complete."""
    index.search("ipv4 wait=0")
    bgpd.accept()
    bgpd.send(bmp.initiation(), bmp.peer_up(ONE), *_paths()[3:4])
    index.wait_paths("ipv4", 1)
    assert index.search("ipv4 wait=1")["complete"] is False
    bgpd.send(*ENDS)
    found = index.search("ipv4 wait=5000")
    assert (found["state"], found["complete"], found["matching"]) == ("ready", True, 1)


def test_a_row_has_all_that_the_attributes_say(ready: BgpIndex) -> None:
    """The router's own AS, which bgpd prepends for a neighbor of another AS, is not part of the path."""
    found = ready.search("ipv4 exact=10.0.0.0/8")
    assert found["vrf"] == "default" and found["read"] == 6 and found["complete"] is True
    first, second = found["rows"]
    assert 1000 <= first.pop("received_s") < 1100
    assert first == {
        "prefix": "10.0.0.0/8",
        "neighbor": "192.0.2.1",
        "neighbor_as": 65001,
        "as_path": "65001 65010 {65020,65021}",
        "origin": "igp",
        "next_hop": "192.0.2.1",
        "med": 50,
        "communities": ["65001:100", "65535:65281"],
        "large_communities": ["65001:1:2"],
        "extended_communities": ["rt:65000:1"],
        "atomic_aggregate": True,
        "aggregator": "65010 192.0.2.1",
    }
    assert (second["neighbor"], second["as_path"], second["received_s"]) == (
        "192.0.2.2",
        "65002 65010 65030",
        None,
    )
    own = ready.search("ipv4 neighbor=self")["rows"]
    assert [(row["prefix"], row["as_path"], row["neighbor_as"]) for row in own] == [
        ("198.51.100.0/24", "", 65000)
    ]
    assert own[0]["as_of_s"] >= 0
    assert ready.search("ipv6")["rows"][0]["next_hop"] == "2001:db8::3"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("ipv4", ["10.0.0.0/8", "10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24", "198.51.100.0/24"]),
        ("ipv4 within=10.1.0.0/16", ["10.1.0.0/16", "10.1.2.0/24"]),
        ("ipv4 covering=10.1.2.3", ["10.0.0.0/8", "10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24"]),
        ("ipv4 covering=10.1.2.3 neighbor=192.0.2.1", ["10.0.0.0/8", "10.1.2.0/24"]),
        ("ipv4 exact=10.1.0.0/16", ["10.1.0.0/16"]),
        ("ipv4 as=65020", ["10.0.0.0/8"]),
        ("ipv4 as=65010", ["10.0.0.0/8", "10.0.0.0/8", "10.1.0.0/16"]),
        ("ipv4 as=65000", []),
        ("ipv4 origin_as=65021", ["10.0.0.0/8"]),
        ("ipv4 origin_as=65030", ["10.0.0.0/8", "10.1.0.0/16"]),
        ("ipv4 first_as=65001", ["10.0.0.0/8", "10.1.2.0/24"]),
        ("ipv4 path=65002_65010", ["10.0.0.0/8", "10.1.0.0/16"]),
        ("ipv4 path=65010_65020", ["10.0.0.0/8"]),
        ("ipv4 path=65002_65030", []),
        ("ipv4 path_length=0", ["198.51.100.0/24"]),
        ("ipv4 path_length=1-2", ["10.1.2.0/24"]),
        ("ipv4 path_length=3", ["10.0.0.0/8", "10.0.0.0/8", "10.1.0.0/16"]),
        ("ipv4 community=65001:100", ["10.0.0.0/8"]),
        ("ipv4 community=no-export", ["10.0.0.0/8"]),
        ("ipv4 community=blackhole", []),
        ("ipv4 large_community=65001:1:2", ["10.0.0.0/8"]),
        ("ipv4 extended_community=0002fde800000001", ["10.0.0.0/8"]),
        ("ipv4 extended_community=rt:65000:1", ["10.0.0.0/8"]),
        ("ipv4 next_hop=192.0.2.2", ["10.0.0.0/8", "10.1.0.0/16"]),
        ("ipv4 as=65010 neighbor=192.0.2.2 within=10.1.0.0/16", ["10.1.0.0/16"]),
        ("ipv4 offset=1 limit=2", ["10.0.0.0/8", "10.1.0.0/16"]),
        ("ipv4 offset=9", []),
        ("ipv6", ["2001:db8:f::/48"]),
        ("ipv6 community=65003:6 neighbor=2001:db8::3 covering=2001:db8:f::1", ["2001:db8:f::/48"]),
        ("ipv6 as=65001", []),
    ],
)
def test_paths_are_found_by_every_key(ready: BgpIndex, words: str, expected: list[str]) -> None:
    """All keys together, in the order of prefix and neighbor; the number of matches covers all pages."""
    found = ready.search(words)
    assert [row["prefix"] for row in found["rows"]] == expected
    if "offset" not in words:
        assert found["matching"] == len(expected)
    else:
        assert found["matching"] == 5


def test_what_is_wrong_with_a_question_is_said_and_the_connection_stays(ready: BgpIndex) -> None:
    """Each line has its answer."""
    answers = ready.ask("search ipv4 as=abc", "search ipv4 best=1", "what", "search ipv4 limit=1", "x" * 5000)
    assert answers[0] == {"error": "search: as=abc: not an AS number 0 to 4294967295"}
    assert answers[1]["error"].startswith("search: best=1: no such key: within, covering, exact, ")
    assert answers[2] == {"error": "ask: status, search ipv4|ipv6 KEY=VALUE..., or release"}
    assert len(answers[3]["rows"]) == 1
    assert answers[4] == {"error": "ask: a question of 2047 bytes at most"}


def test_changes_are_followed(bgpd: bmp.Listener, ready: BgpIndex) -> None:
    """Changed attributes, withdrawn paths, and sessions that go down and come back."""
    bgpd.send(bmp.announcement(TWO, "10.1.0.0/16", bmp.as_path([65000, 65002, 65099])))
    ready.wait(lambda _: ready.prefixes("ipv4 as=65099") == ["10.1.0.0/16"], "another path")
    bgpd.send(bmp.withdrawal(TWO, "10.1.0.0/16"), bmp.withdrawal(SIX, "2001:db8:f::/48"))
    ready.wait_paths("ipv6", 0)
    assert ready.prefixes("ipv4 neighbor=192.0.2.2") == ["10.0.0.0/8"]
    bgpd.send(bmp.peer_down(ONE))
    status = ready.wait_paths("ipv4", 2)
    assert [n["up"] for n in status["neighbors"] if n["address"] == "192.0.2.1"] == [False]
    # bgpd may still send routes that it is about to forget.
    bgpd.send(_paths()[3], bmp.announcement(TWO, "10.2.0.0/16", bmp.as_path([65000, 65002])))
    ready.wait_paths("ipv4", 3)
    assert ready.prefixes("ipv4 neighbor=192.0.2.1") == []
    bgpd.send(bmp.peer_up(ONE), _paths()[3])
    ready.wait_paths("ipv4", 4)
    assert ready.prefixes("ipv4 neighbor=192.0.2.1") == ["10.1.2.0/24"]


def test_a_malformed_message_is_counted_and_the_next_one_is_read(bgpd: bmp.Listener, ready: BgpIndex) -> None:
    """A path whose attributes cannot be read is no longer stored; the connection stays."""
    bgpd.send(
        bmp.announcement(TWO, "10.1.0.0/16", bmp.attribute(4, b"\1")),
        bmp.raw_update(TWO, b"\xff" * 30),
        bmp.message(0, b"\0" * 12),
        bmp.message(77, b"what is this"),
        bmp.announcement(TWO, "10.77.0.0/16", bmp.as_path([65000, 65002])),
    )
    status = ready.wait(lambda status: bool(status["malformed"] == 3), "three malformed messages")
    assert status["state"] == "ready"
    assert ready.prefixes("ipv4 neighbor=192.0.2.2") == ["10.0.0.0/8", "10.77.0.0/16"]


def test_a_stream_without_framing_is_given_up_and_read_anew(bgpd: bmp.Listener, ready: BgpIndex) -> None:
    """Everything is discarded, and sent again."""
    bgpd.send(b"\x03\xff\xff\xff\xff\x00")
    assert bgpd.was_left()
    status = ready.wait(lambda status: status["state"] != "ready", "an end")
    assert status["ipv4"]["paths"] == 0
    _tell(bgpd)
    assert ready.wait_for("ready")["ipv4"]["paths"] == 5


def test_what_is_not_bgpd_is_said(bgpd: bmp.Listener, index: BgpIndex) -> None:
    """Its address, and why."""
    index.search("ipv4 wait=0")
    bgpd.accept()
    bgpd.send(b"HTTP/1.1 400 Bad Request\r\n")
    why = index.wait_for("connecting")["why"]
    assert why == f"bgpd at 127.0.0.1:{bgpd.port}: what answers does not speak BMP, or its framing is lost"


def test_a_bgpd_that_dies_takes_its_routes_with_it_until_it_is_back(
    bgpd: bmp.Listener, ready: BgpIndex
) -> None:
    """The index reconnects automatically, because somebody asked recently."""
    bgpd.close()
    ready.wait_for("connecting")
    found = ready.search("ipv4 wait=5000")
    assert (found["state"], found["matching"], found["rows"]) == ("connecting", 0, [])
    refused = f"bgpd does not answer at 127.0.0.1:{bgpd.port}: "
    ready.wait(lambda status: str(status["why"]).startswith(refused), "a refusal")
    bgpd.listen()
    _tell(bgpd)
    assert ready.wait_for("ready")["ipv4"] == {"routes": 4, "paths": 5}


def test_what_nobody_asks_for_is_given_back(bgpd: bmp.Listener, tmp_path: Path) -> None:
    """After --idle seconds without a search (a status does not count). The next search reads again."""
    with _beside(bgpd, tmp_path, "--idle", "1") as index:
        index.search("ipv4 wait=0")
        _tell(bgpd)
        status = index.wait_for("idle")
        assert bgpd.was_left()
        assert (status["ipv4"]["paths"], status["memory_bytes"], status["idle_s"]) == (0, 0, None)
        assert not bgpd.is_asked()
        index.search("ipv4 wait=0")
        _tell(bgpd)
        assert index.search("ipv4 wait=5000")["matching"] == 5


def test_release_gives_back_at_once(bgpd: bmp.Listener, ready: BgpIndex) -> None:
    """It answers with the status."""
    (answer,) = ready.ask("release")
    assert (answer["state"], answer["ipv4"]["paths"], answer["memory_bytes"]) == ("idle", 0, 0)
    assert bgpd.was_left()


def test_more_routes_than_it_may_hold_are_not_held(bgpd: bmp.Listener, tmp_path: Path) -> None:
    """Every answer says so; the stored routes are kept current."""
    with _beside(bgpd, tmp_path, "--most", "3") as index:
        index.search("ipv4 wait=0")
        _tell(bgpd)
        status = index.wait_for("ready")
        assert status["truncated"] is True and status["ipv4"]["paths"] == 3
        bgpd.send(bmp.announcement(TWO, "10.1.0.0/16", bmp.as_path([65000, 65002, 65099])))
        index.wait(lambda _: index.prefixes("ipv4 as=65099") == ["10.1.0.0/16"], "another path")
        found = index.search("ipv4")
        assert (found["matching"], found["truncated"], found["complete"]) == (3, True, False)


def test_attributes_may_not_take_all_memory(bgpd: bmp.Listener, tmp_path: Path) -> None:
    """A neighbor chooses how many there are and how long."""
    with _beside(bgpd, tmp_path, "--most-mib", "1") as index:
        index.search("ipv4 wait=0")
        bgpd.accept()
        bgpd.send(bmp.initiation(), bmp.peer_up(ONE))
        for number in range(600):
            long = bmp.communities(*((number, at) for at in range(1000)))
            bgpd.send(bmp.announcement(ONE, f"10.{number >> 8}.{number & 255}.0/24", long))
        bgpd.send(*ENDS)
        status = index.wait_for("ready")
        assert status["truncated"] is True
        assert 100 < status["ipv4"]["paths"] < 600 and status["memory_bytes"] <= 1 << 20


def test_a_family_that_no_neighbor_speaks_has_no_end_to_wait_for(bgpd: bmp.Listener, index: BgpIndex) -> None:
    """bgpd sends the end of a family only for sessions that speak it; without such sessions there is no
    end.
    """
    index.search("ipv4 wait=0")
    bgpd.accept()
    bgpd.send(bmp.initiation(), bmp.peer_up(ONE, families=(4,)), _paths()[3], ENDS[0])
    assert index.wait_for("ready")["ipv4"]["paths"] == 1
    bgpd.hang_up()
    index.wait_for("connecting")
    bgpd.accept()
    bgpd.send(bmp.initiation())
    assert index.wait_for("ready")["ipv4"]["paths"] == 0


def test_the_table_is_read_once_more_after_a_session_came_up(bgpd: bmp.Listener, index: BgpIndex) -> None:
    """As after bgpd was started: the index is there before any session, and bgpd tells no end then.

    Nor does 8.4 tell of a path that had no next hop when it came: here the second one.
    """
    index.search("ipv4 wait=0")
    bgpd.accept()
    bgpd.send(bmp.initiation(), _paths()[4], bmp.peer_up(TWO), _paths()[1])
    found = index.search("ipv4 wait=1500")
    assert (found["state"], found["complete"], found["matching"]) == ("reading", False, 2)
    assert "a session came up: the table is read once more" in found["why"]
    bgpd.accept()
    found = index.search("ipv4 wait=300")
    assert (found["state"], found["complete"], found["matching"]) == ("reading", False, 0)
    assert "read once more" in found["why"], "nothing is to be believed yet, and why is still said"
    bgpd.send(bmp.initiation(), bmp.peer_up(ONE), bmp.peer_up(TWO), *_paths(), *ENDS)
    status = index.wait_for("ready")
    assert (status["why"], status["ipv4"]["paths"]) == (None, 5)


def test_a_session_that_came_up_just_before_the_first_reading_is_read_again(
    bgpd: bmp.Listener, index: BgpIndex
) -> None:
    index.search("ipv4 wait=0")
    bgpd.accept()
    young = bmp.peer_up(TWO, at_s=int(time.time()))
    bgpd.send(bmp.initiation(), bmp.peer_up(ONE), young, _paths()[1], *ENDS)
    found = index.search("ipv4 wait=1500")
    assert (found["state"], found["complete"], found["matching"]) == ("reading", False, 1)
    assert "a session came up" in found["why"]
    _tell(bgpd)
    assert index.wait_for("ready")["ipv4"]["paths"] == 5


def test_the_end_of_a_session_that_was_up_is_waited_for(bgpd: bmp.Listener, index: BgpIndex) -> None:
    index.search("ipv4 wait=0")
    bgpd.accept()
    assert index.search("ipv4 wait=1500")["state"] == "reading", "bgpd has not answered"
    bgpd.send(bmp.initiation(), bmp.peer_up(ONE, families=(4,)), _paths()[3])
    assert index.search("ipv4 wait=1500")["state"] == "reading"
    # Of a session that came up since no end is told: the table is read once more.
    bgpd.send(bmp.peer_up(TWO, families=(6,)), ENDS[0])
    _tell(bgpd)
    index.wait_for("ready")
