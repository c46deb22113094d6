"""The arguments of `millrace`."""

from __future__ import annotations

import pytest

from appliance.cli.__main__ import main


def test_words_beside_c_are_not_passed_over(capsys: pytest.CaptureFixture[str]) -> None:
    """``-c`` takes commands, and is not the count of a ping."""
    with pytest.raises(SystemExit) as ended:
        main(["--socket", "/nowhere", "ping", "192.0.2.1", "-c", "5"])
    assert ended.value.code == 2
    assert "ping 192.0.2.1 would not be run" in capsys.readouterr().err
