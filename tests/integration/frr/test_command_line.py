"""``python -m frr_config`` against real daemons."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from frr_config.__main__ import BAD_INPUT, DONE, HAS_STEPS, UNAVAILABLE, main
from tests.integration.frr.harness import FrrHarness
from tests.integration.frr.test_contract import DOCUMENT

pytestmark = pytest.mark.root


def test_plan_apply_observe(
    empty_router: FrrHarness, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "routing.json"
    file.write_text(json.dumps(DOCUMENT))
    where = ["--vty-dir", str(empty_router.vty_dir), "--config-dir", str(empty_router.config_dir)]
    assert main(["plan", str(file), *where]) == HAS_STEPS
    assert "add BGP AS 65000" in capsys.readouterr().out
    assert main(["apply", str(file), *where]) == DONE
    assert main(["plan", str(file), *where, "--json"]) == DONE
    capsys.readouterr()
    assert main(["observe", *where]) == DONE
    shown = capsys.readouterr().out
    assert "neighbor g password ********" in shown
    assert "shared" not in shown
    assert "neighbor g password shared" in (empty_router.config_dir / "frr.conf").read_text()


def test_errors_have_their_codes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "routing.json"
    file.write_text(json.dumps(DOCUMENT))
    nowhere = ["--vty-dir", str(tmp_path), "--config-dir", str(tmp_path)]
    assert main(["plan", str(file), *nowhere]) == UNAVAILABLE
    file.write_text('{"bgp": {"asn": 1, "neighbors": {"192.0.2.1": {"password": "no space allowed"}}}}')
    assert main(["render", str(file)]) == BAD_INPUT
    assert "no space allowed" not in capsys.readouterr().err
    assert main(["render", str(tmp_path / "missing.json")]) == BAD_INPUT
