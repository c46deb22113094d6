"""A lab whose machine cannot have the index: bgpd starts without its module, and the agent knows of none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lab import accounts, agent_process, bgp_index, frr_daemons, rust_program
from lab.layout import Layout
from lab.namespaces import Namespaces
from lab.programs import index_program


@pytest.fixture(params=["no module", "no compiler"])
def lacking(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """What the machine lacks."""
    module = tmp_path / "lib/x86/frr/modules/bgpd_bmp.so"
    module.parent.mkdir(parents=True)
    if request.param == "no compiler":
        module.touch()
    monkeypatch.setattr(bgp_index, "_MODULES", tmp_path / "lib")
    monkeypatch.setattr(rust_program, "compiler", lambda: None)
    return "this FRR has no module bmp" if request.param == "no module" else "there is no Rust compiler"


def test_nothing_of_it_is_started_or_named(lacking: str, tmp_path: Path) -> None:
    names, layout = Namespaces.named("zz", "linux"), Layout(tmp_path)
    assert (bgp_index.lacking() or "").startswith(lacking)
    assert index_program(layout, names, print) is None
    assert bgp_index.MODULE not in frr_daemons.argv("bgpd", "zz", "linux")
    agent_process.write_settings(layout, names, "linux", (0,))
    assert "bgp_index_socket" not in json.loads(layout.agent_config.read_text())


def test_where_it_can_be_all_three_know_of_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bgp_index, "lacking", lambda: None)
    built = tmp_path / "built"
    built.write_text("")
    monkeypatch.setattr(rust_program, "build", lambda *_: built)
    monkeypatch.setattr(accounts, "can_reach", lambda *_: "it is closed")
    names, layout = Namespaces.named("zz", "linux"), Layout(tmp_path)
    layout.bin.mkdir()
    layout.run.mkdir()
    notes: list[str] = []
    program = index_program(layout, names, notes.append)
    assert notes == ["NOTE: root runs bgp-index: it is closed"]
    assert program is not None and str(layout.bgp_index_socket) in program.argv
    assert frr_daemons.argv("bgpd", "zz", "linux")[-2:] == ["-M", "bmp"]
    assert "-M" not in frr_daemons.argv("ospfd", "zz", "linux")
    agent_process.write_settings(layout, names, "linux", (0,))
    settings = json.loads(layout.agent_config.read_text())
    assert settings["bgp_index_socket"] == str(layout.bgp_index_socket)
