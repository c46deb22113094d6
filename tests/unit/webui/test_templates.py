"""Every template is one: a page that nobody opened in a test must not be the first to find that it is not."""

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
