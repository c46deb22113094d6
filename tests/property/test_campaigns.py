"""The draws of the campaigns in tests/soak are the same for the same seed, and are what they claim to be."""

from __future__ import annotations

import json
import random
import struct
from pathlib import Path

import pytest

from appliance.config.capabilities import Capabilities
from lab.initial_document import build
from tests.soak import bgp_bytes, damage, ip_frames, ospf_bytes
from tests.soak.faults import catalogue
from tests.soak.lab_documents import random_lab_document
from tests.soak.options import Options

_LINUX = Capabilities("linux", lacking={"sub_interface": "this kernel has no VLANs"})


@pytest.mark.parametrize("seed", range(20))
def test_a_document_is_drawn_again_by_its_seed_and_keeps_the_lab_connected(seed: int) -> None:
    first, second = (random_lab_document(random.Random(seed), _LINUX, "mark") for _ in range(2))
    assert first == second
    wanted = build("linux")
    for name, interface in wanted["interfaces"].items():
        assert first["interfaces"][name]["addresses"] == interface["addresses"]
    assert wanted["routing"]["static"].items() <= first["routing"]["static"].items()
    assert wanted["routing"]["bgp"]["neighbors"].items() <= first["routing"]["bgp"]["neighbors"].items()


def test_hostile_bytes_are_drawn_again_by_their_seed() -> None:
    def drawn() -> list[bytes]:
        bgp = bgp_bytes.Hostile(random.Random(7), 65066, "10.10.0.66")
        ospf = ospf_bytes.Hostile(random.Random(7), "10.10.0.2", "10.20.0.1")
        v4, v6 = ("10.10.0.2", "10.10.0.1", "203.0.113.10"), ("2001:db8::2", "2001:db8::1", "2001:db8::3")
        ip = ip_frames.Hostile(random.Random(7), (b"\2aaaaa", b"\2bbbbb"), v4, v6)
        return [
            data
            for _ in range(300)
            for data in (*bgp.messages()[1], ospf.packet()[1], ip.frame()[1])
        ]  # fmt: skip

    first = drawn()
    assert first == drawn()
    assert all(14 <= len(data) <= 8192 or data.startswith(bgp_bytes.MARKER) for data in first)


def test_a_plain_update_is_right() -> None:
    body = bgp_bytes.update(b"", bgp_bytes.attribute(0x40, 1, b"\0"), b"\x08\x0a")
    assert struct.unpack("!HB", body[16:19]) == (len(body), bgp_bytes.UPDATE)
    assert body[19:] == b"\0\0" + b"\0\4" + b"\x40\1\1\0" + b"\x08\x0a"


def test_an_lsa_has_the_checksum_that_receivers_compute() -> None:
    first = second = 0
    for byte in ospf_bytes.lsa(5, 0x64400000, 0x0A0A0002, bytes(range(16)))[2:]:
        first = (first + byte) % 255
        second = (second + first) % 255
    assert (first, second) == (0, 0)


@pytest.mark.parametrize("kind", damage.KINDS)
def test_damage_spoils_the_one_file_it_names(kind: str, tmp_path: Path) -> None:
    def files() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    for folder in ("revisions", "objects", "jobs"):
        (tmp_path / folder).mkdir()
    for number in range(1, 4):
        names = {"digest": f"aa{number}", "details": f"bb{number}"}
        (tmp_path / f"revisions/{number:08d}.json").write_text(json.dumps(names))
        for name in names.values():
            (tmp_path / f"objects/{name}.json").write_text(json.dumps({"name": name}))
    (tmp_path / "jobs/x.json").write_text("{}")
    before = files()
    done = damage.inflict(kind, tmp_path, random.Random(kind))
    after = files()
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    assert [str(path.relative_to(tmp_path)) for path in changed] == [done.split()[0]]


def test_faults_are_chosen_by_name() -> None:
    known = catalogue()
    assert {"kill-agent", "stop-zebra", "disk-full", "clock-back", "damage-journal"} <= known.keys()

    def chosen(*words: str) -> list[str]:
        return Options(1, (1,), ("linux",), "sqlite", words).chosen(known)

    assert chosen("kill-agent", "nothing") == ["nothing", "kill-agent"]
    assert set(known) - set(chosen("-disk-full")) == {"disk-full"}
    with pytest.raises(ValueError, match="no-such"):
        chosen("no-such")
