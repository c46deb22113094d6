"""``python -m vpp_config`` on the fake."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from vpp_config.__main__ import BAD_INPUT, DONE, FAILED, STEPS, UNAVAILABLE, main
from vpp_config.fake import FakeVpp

_STATE: dict[str, Any] = {
    "objects": [
        {
            "kind": "ethernet",
            "name": "wan0",
            "attachment": {"driver": "af_packet", "host_if_name": "eth1"},
            "mac": "02:00:00:00:00:01",
        },
        {"kind": "address", "interface": "wan0", "address": "192.0.2.2/30"},
    ]
}


def _file(tmp_path: Path, document: object) -> str:
    path = tmp_path / "state.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return str(path)


def test_plan_apply_observe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fake, file = FakeVpp(), _file(tmp_path, _STATE)
    assert main(["plan", file], fake) == STEPS
    assert capsys.readouterr().out.splitlines() == [
        "create  add interface wan0",
        "create  add address 192.0.2.2/30 on interface wan0",
        "attach  enable interface wan0",
    ]
    assert main(["apply", file, "--json"], fake) == DONE
    assert json.loads(capsys.readouterr().out)[0]["key"] == "ethernet/wan0"
    assert main(["plan", file], fake) == DONE
    assert main(["observe"], fake) == DONE
    observed = json.loads(capsys.readouterr().out)
    assert [item["kind"] for item in observed["objects"]] == ["ethernet", "address"]
    assert main(["plan", _file(tmp_path, observed)], fake) == DONE


def test_a_virtio_nic_has_the_mtu_of_layer_3(tmp_path: Path) -> None:
    """VPP's virtio driver refuses another frame size (-126), as the fake does."""
    fake = FakeVpp()
    nic = {
        "kind": "ethernet",
        "name": "wan0",
        "attachment": {"driver": "virtio_pci", "pci_address": "0000:00:11.0"},
        "mac": "02:00:00:00:00:01",
    }
    for mtu in (1500, 1400):
        file = _file(tmp_path, {"objects": [{**nic, "mtu": mtu}]})
        assert main(["plan", file], fake) == STEPS
        assert main(["apply", file], fake) == DONE
        assert main(["plan", file], fake) == DONE
    (row,) = fake.dump("sw_interface_virtio_pci_dump")
    rows = fake.dump("sw_interface_dump", sw_if_index=row.sw_if_index)
    assert [found.mtu[0] for found in rows if found.sw_if_index == row.sw_if_index] == [1400]


def test_a_refusal_is_undone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fake = FakeVpp()
    fake.fail_next("sw_interface_add_del_address", -105)
    assert main(["apply", _file(tmp_path, _STATE)], fake) == FAILED
    assert "failed: add address 192.0.2.2/30 on interface wan0" in capsys.readouterr().err
    assert fake.dump("af_packet_dump") == []


@pytest.mark.parametrize("document", [{"objects": [{"kind": "none"}]}, {"objects": [_STATE["objects"][1]]}])
def test_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str], document: object) -> None:
    assert main(["apply", _file(tmp_path, document)], FakeVpp()) == BAD_INPUT
    assert "state.json: " in capsys.readouterr().err


def test_no_file_and_no_json(tmp_path: Path) -> None:
    assert main(["plan", str(tmp_path / "absent")], FakeVpp()) == BAD_INPUT
    (tmp_path / "broken").write_text("{", encoding="utf-8")
    assert main(["plan", str(tmp_path / "broken")], FakeVpp()) == BAD_INPUT


def test_no_vpp(tmp_path: Path) -> None:
    fake = FakeVpp()
    fake.stop()
    assert main(["observe"], fake) == UNAVAILABLE
    assert main(["observe", "--socket", str(tmp_path / "absent.sock")]) == UNAVAILABLE
