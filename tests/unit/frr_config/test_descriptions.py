"""Letters of every script in a description, and nothing that is not seen."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from frr_config.types import Description

_TEXT: TypeAdapter[str] = TypeAdapter(Description)


@pytest.mark.parametrize("text", ["Gäste-WLAN", "Ελλάδα 5", "東京", "مرحبا", "दिल्ली", "ü" * 80, ""])
def test_letters_and_digits_of_any_script(text: str) -> None:
    assert _TEXT.validate_python(text) == text


def test_one_letter_has_one_spelling() -> None:
    assert _TEXT.validate_python("Ga\u0308ste") == "Gäste"


_NOT_SEEN = "\n\t\x1b\u202e\u2066\u200b\u200d\ufeff\u00ad\u3164\ufe0f\U000e0101\u2028\u00a0"
_OTHERS = ("\u0301a", "a" + "\u0301" * 6, "\U0001f600", "a!b", "a<b", "x" * 81)


@pytest.mark.parametrize("text", [*(f"a{one}b" for one in _NOT_SEEN), *_OTHERS])
def test_what_is_not_seen_or_changes_the_line_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        _TEXT.validate_python(text)
