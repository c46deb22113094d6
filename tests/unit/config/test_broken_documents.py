"""Broken documents picked by hand: each is refused, and the place that is wrong is named.

A file has ``pointer`` (where a problem has to be) and ``document``, or ``text`` for what is not even JSON.
The tests of the REST API use them too.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from appliance.config.capabilities import Capabilities
from appliance.config.load import parse_document
from appliance.config.validate import require_valid
from appliance.errors import ValidationFailed

BROKEN = sorted((Path(__file__).parent / "broken").glob("*.json"))


@pytest.mark.parametrize("path", BROKEN, ids=lambda path: path.stem)
def test_it_is_refused_where_it_is_wrong(path: Path) -> None:
    case: dict[str, Any] = json.loads(path.read_text())
    source = case["text"] if "text" in case else case["document"]
    with pytest.raises(ValidationFailed) as refused:
        require_valid(parse_document(source), Capabilities("vpp"))
    pointers = [problem.pointer for problem in refused.value.problems]
    assert case["pointer"] in pointers
    for problem in refused.value.problems:
        assert problem.message
        assert problem.message.isprintable()
        assert "validator" not in problem.pointer
        assert "function-" not in problem.pointer


def test_there_are_a_hundred() -> None:
    assert len(BROKEN) >= 100
