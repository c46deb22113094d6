"""The documentation leads somewhere: links and anchors, and an index that leaves no page out."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.unit.test_house_rules import ROOT, sources

_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"\]\(([^()\s]+)\)")
_HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)


def _pages() -> list[Path]:
    return [path for path in sources() if path.suffix == ".md"]


def _links(page: Path) -> Iterator[str]:
    """Targets of links in the page that are not on another site."""
    prose = _CODE.sub("", _FENCE.sub("", page.read_text()))
    for target in _LINK.findall(prose):
        if "://" not in target and not target.startswith("mailto:"):
            yield target


@cache
def _anchors(page: Path) -> frozenset[str]:
    """Headings as GitHub makes anchors of them."""
    headings = _HEADING.findall(_FENCE.sub("", page.read_text()))
    return frozenset(re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings)


def _is_broken(page: Path, target: str) -> bool:
    place, _, anchor = target.partition("#")
    led_to = (page.parent / place).resolve() if place else page
    if not led_to.exists() or not led_to.is_relative_to(ROOT):
        return True
    return bool(anchor) and (led_to.suffix != ".md" or anchor not in _anchors(led_to))


def test_every_link_leads_to_a_file_and_its_heading() -> None:
    """Relative links and anchors of every page in the repository."""
    links = [(page, target) for page in _pages() for target in _links(page)]
    assert len(links) > 50
    broken = [f"{page.relative_to(ROOT)}: {target}" for page, target in links if _is_broken(page, target)]
    assert broken == []


def test_the_index_names_every_page() -> None:
    """``docs/README.md`` links each page of ``docs``, images and records apart."""
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / target.partition("#")[0]).resolve() for target in _links(index)}
    pages = {page for page in (ROOT / "docs").glob("*.md") if page != index}
    assert sorted(page.name for page in pages - linked) == []


def test_every_test_that_the_documentation_names_exists() -> None:
    """A guard is worth what its test holds: files below ``tests/`` that a page names in code marks."""
    named = re.compile(r"`(tests/[\w/]+\.py)(?:::\w+)?`")
    missing = [
        f"{page.relative_to(ROOT)}: {path}"
        for page in _pages()
        for path in named.findall(page.read_text())
        if not (ROOT / path).is_file()
    ]
    assert missing == []
