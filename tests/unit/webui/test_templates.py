"""Every template compiles: a page that no test opened must not be the first to show that it does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.template.loader import get_template

import webui

FOLDERS = sorted(Path(webui.__file__).parent.glob("*/templates"))
NAMES = sorted(
    str(path.relative_to(folder)) for folder in FOLDERS for path in folder.rglob("*") if path.is_file()
)


def test_there_are_templates() -> None:
    assert "ui/base.html" in NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_template_compiles(name: str) -> None:
    get_template(name)
