"""Text sent to a daemon is a single command."""

from __future__ import annotations

from pathlib import Path

import pytest

from frr_config.vty import Vty


@pytest.mark.parametrize("separator", ["\0", "\n", "\r"])
def test_text_that_holds_two_commands_is_not_sent(tmp_path: Path, separator: str) -> None:
    vty = Vty(tmp_path, "zebra", 1.0)
    for send in (vty.send, vty.ask, vty.run, lambda command: list(vty.stream(command))):
        with pytest.raises(ValueError, match="one line"):
            send(f"show version{separator}configure terminal")
    assert vty.generation == 0
