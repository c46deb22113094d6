"""The commands that make a document make that document, typed into the command line one by one."""

from __future__ import annotations

import random
from typing import Any

import pytest

from appliance.cli.candidate import Candidate
from appliance.cli.words import split_line
from appliance.config.dump import dump
from appliance.config.load import parse_document
from appliance.config.set_commands import set_commands
from tests.property.documents import random_document
from tests.property.test_documents import CAPABILITIES, NICS


def typed(lines: list[str]) -> dict[str, Any]:
    """What the candidate is after these lines."""
    candidate = Candidate({"schema_version": 1}, 1)
    for line in lines:
        first, *words = split_line(line)
        assert first == "set"
        candidate.set(words)
    return dump(parse_document(candidate.document), "reveal")


@pytest.mark.parametrize("seed", range(100))
def test_the_commands_of_a_document_make_it_again(seed: int) -> None:
    canonical = dump(random_document(random.Random(seed), CAPABILITIES, NICS), "reveal")
    assert typed(list(set_commands(canonical))) == canonical
