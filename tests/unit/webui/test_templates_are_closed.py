"""What is shown is text: no template and no code that makes HTML takes a value for markup or script.

The content security policy is a second guard, not the first one.
"""

from __future__ import annotations

import ast
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

import webui
from tests.unit.webui.test_templates import FOLDERS, NAMES

SOURCES = sorted(Path(webui.__file__).parent.rglob("*.py"))
_DJANGO = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
_OPENED = re.compile(r"\|\s*safe|autoescape|\bverbatim\b|\|\s*escapejs|json_script")
_NO_TAGS = {"style", "iframe", "object", "embed", "base", "applet", "frame"}
_NO_ATTRIBUTES = re.compile(r"on.*|style|srcdoc|hx-on.*|hx-vals|hx-vars|hx-headers|hx-request|hx-ext")
_ADDRESSES = {"href", "src", "action", "formaction", "hx-get", "hx-post", "data-href", "data-url"}
_OWN_ADDRESS = re.compile(r"\{% (url|static|edit_url|add_url|delete_url|page_url) |\{% if |[/?#](?!/)")
_MADE_BY_REVERSE = {
    "address", "back_url", "diff.all_objects", "follow_url", "head.url", "item.url", "listing.act_url",
    "listing.address", "listing.fragment_url", "listing.newer", "listing.older", "longer", "newest_url",
    "older", "one.alone", "one.url", "pager.following", "pager.previous", "place.list_url",
    "request.get_full_path", "request.path", "sign_in",
}  # fmt: skip
"""Addresses that the views make: paths of this site with an encoded query, or the one that was asked for."""

_MAKERS = re.compile(
    r"innerHTML|outerHTML|AdjacentHTML|document\.write|\beval\(|new Function|ContextualFragment|DOMParser"
)


class _Template(HTMLParser):
    """Faults of one template, whose Django tags are replaced by marks without quotes."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=False)
        self.faults: list[str] = []
        self._said: list[str] = []
        self._in_script = False
        self.feed(_DJANGO.sub(self._mark, text))
        self.close()

    def _mark(self, found: re.Match[str]) -> str:
        self._said.append(found[0])
        return f"\ue000{len(self._said) - 1}\ue001"

    def _meant(self, value: str) -> str:
        return re.sub("\ue000(\\d+)\ue001", lambda found: self._said[int(found[1])], value)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Quotes, names, addresses."""
        text = self.get_starttag_text() or ""
        if tag in _NO_TAGS:
            self.faults.append(f"<{tag}>")
        if re.search(r"=(?!\s*\"\")", re.sub(r"\"[^\"]*\"|'[^'\ue000]*'", '""', text)):
            self.faults.append(f"a value without quotes: {self._meant(text)}")
        self._in_script = tag == "script"
        for name, value in attrs:
            if _NO_ATTRIBUTES.fullmatch(name):
                self.faults.append(f"{name} in {self._meant(text)}")
            meant = self._meant(value or "").strip()
            if name in _ADDRESSES and meant and not _OWN_ADDRESS.match(meant):
                variable = re.match(r"\{\{ ([\w.]+) \}\}", meant)
                if variable is None or variable[1] not in _MADE_BY_REVERSE:
                    self.faults.append(f"{name}={meant}")
        if tag == "script" and "src" not in dict(attrs):
            self.faults.append("a script within the page")

    def handle_endtag(self, tag: str) -> None:
        """A script has no content."""
        self._in_script = self._in_script and tag != "script"

    def handle_data(self, data: str) -> None:
        """None in a script."""
        if self._in_script and data.strip():
            self.faults.append("a script within the page")

    def handle_comment(self, data: str) -> None:
        """A value in a comment could end it."""
        if "\ue000" in data:
            self.faults.append(f"a value in a comment: {self._meant(data)}")


@pytest.mark.parametrize("name", NAMES)
def test_a_template_takes_no_value_for_markup(name: str) -> None:
    (text,) = {(folder / name).read_text() for folder in FOLDERS if (folder / name).is_file()}
    assert not _OPENED.search(text)
    assert _Template(text).faults == []


@pytest.mark.parametrize(
    "text",
    [
        "<a href={{ one.url }}>",
        '<a href="{{ one.name }}">',
        '<a href="//elsewhere/">',
        '<a href="javascript:x">',
        '<b onclick="x">',
        '<b style="{{ one }}">',
        "<b title={{ one }}>",
        "<script>let a = {{ one }};</script>",
        "<!-- {{ one }} -->",
        '<div hx-on:click="x">',
        "<iframe></iframe>",
    ],
)
def test_a_fault_is_seen(text: str) -> None:
    assert _Template(text).faults != []


def test_no_code_declares_text_to_be_markup() -> None:
    makers = 0
    for path in SOURCES:
        text = path.read_text()
        assert not re.search(r"mark_safe|SafeString\(|SafeText|def __html__|html_safe", text), path
        for call in ast.walk(ast.parse(text)):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
                place = {"format_html": 0, "format_html_join": 1}.get(call.func.id)
                if place is not None:
                    makers += 1
                    assert isinstance(call.args[place], ast.Constant), f"{path}:{call.lineno}"
    assert makers > 0


def test_no_script_makes_markup_of_text() -> None:
    scripts = sorted(path for folder in FOLDERS for path in (folder.parent / "static").rglob("*.js"))
    assert len(scripts) > 10
    for path in scripts:
        found = _MAKERS.search(path.read_text())
        assert found is None, path
