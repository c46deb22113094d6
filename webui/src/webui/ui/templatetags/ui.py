"""Icons, links to the document's objects, and the formatting of numbers and times."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from django import template
from django.template import Context
from django.templatetags.static import static
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from appliance.config.counted import counted
from appliance.config.pointer import split
from appliance.config.references import noun_of
from appliance.errors import Problem
from webui.ui.diff_text import Line, render
from webui.ui.forms.bound import Bound
from webui.ui.forms.field import Field
from webui.ui.objects import page_of
from webui.ui.pointers import get, join, last
from webui.ui.problem_words import said_with_place
from webui.ui.setting_words import words_of

register = template.Library()

DASH = "\N{EN DASH}"
"""Shown in place of a missing value."""
_SCALE = ("", "k", "M", "G", "T")


@register.simple_tag
def icon(name: str) -> SafeString:
    """An icon of the vendored sprite; decorative, so hidden from screen readers."""
    sprite = static("vendor/icons.svg")
    return format_html('<svg class="icon" aria-hidden="true"><use href="{}#{}"></use></svg>', sprite, name)


@register.simple_tag
def edit_url(pointer: str, *tokens: str) -> str:
    """Address of the page that edits the object at the pointer."""
    return reverse("ui:edit", args=[(pointer + join(*tokens)).removeprefix("/")])


@register.simple_tag
def page_url(pointer: str) -> str:
    """Address of the page that shows the object at the pointer, or the one around it, to everyone."""
    return page_of(pointer)


@register.simple_tag
def setting(pointer: str) -> str:
    """A place in the document as words: the object, and the setting in it."""
    return words_of(pointer)


@register.filter(name="said_with_place")
def problem_with_place(problem: Problem) -> str:
    """A problem of the document, with the setting that it is about."""
    return said_with_place(problem)


@register.filter
def folded(sentence: str, looked_at: Sequence[str]) -> str:
    """A sentence of a plan's summary without the list of what was looked at, which stands folded below it."""
    count = counted(len(looked_at), "kind of effect was", "kinds of effects were")
    return (
        sentence.replace(f"Looked at: {', '.join(looked_at)}", f"{count} looked at")
        if looked_at
        else sentence
    )


@register.simple_tag
def add_url(mapping: str, kind: str = "") -> str:
    """Address of the page that adds an object to the mapping."""
    return reverse("ui:add", args=[mapping.removeprefix("/")]) + (f"?type={kind}" if kind else "")


@register.simple_tag
def delete_url(pointer: str, *tokens: str) -> str:
    """Address that takes the object out of the document, by POST."""
    return reverse("ui:delete", args=[(pointer + join(*tokens)).removeprefix("/")])


@register.simple_tag(takes_context=True)
def names_for(context: Context, bound: Bound) -> list[str]:
    """Names of the objects the field can refer to."""
    if not bound.refers_to:
        return []
    found = get(context.get("document", {}), bound.refers_to, {})
    return list(found) if isinstance(found, dict) else []


@register.simple_tag
def diff_lines(lines: Iterable[Line]) -> SafeString:
    """The lines of a difference, to stand in a ``pre``, where a template's own line ends would show."""
    return format_html_join("", '<span class="{}">{}</span>', ((line.part, line.text) for line in lines))


@register.filter
def new_noun(field: Field) -> str:
    """The title of an object that the field can refer to."""
    return noun_of(field.refers_to)


@register.filter
def side(value: Any) -> str:
    """One side's value in a conflict, in readable lines."""
    return "(not there)" if value is None else "\n".join(render(value))


@register.filter
def singular(text: str) -> str:
    """A plural title in the singular: ``next hops`` → ``next hop``."""
    return text[:-1] if text.endswith("s") else text


@register.filter
def line_count(text: str) -> int:
    """Rows a text area needs."""
    return min(12, max(2, text.count("\n") + 1))


@register.filter
def row_index(name: str) -> str:
    """The index at the end of a row's name."""
    return name.rpartition("/")[2]


@register.filter
def is_new(pointer: str) -> bool:
    """Whether the pointer leads into an object that has no name yet."""
    return "//" in pointer or pointer.endswith("/")


@register.filter
def clock(seconds: Any) -> str:
    """Seconds as ``m:ss``, from an hour on as ``h:mm:ss``."""
    try:
        whole = max(0, int(float(seconds)))
    except (TypeError, ValueError):
        return DASH
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes}:{whole % 60:02d}"


@register.filter
def duration(seconds: Any) -> str:
    """Seconds as the two largest units: ``3d 4h``, ``12m 5s``."""
    try:
        left = max(0, int(float(seconds)))
    except (TypeError, ValueError):
        return DASH
    parts = []
    for unit, size in (("w", 604800), ("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        if left >= size:
            parts.append(f"{left // size}{unit}")
            left %= size
    return " ".join(parts[:2]) or "0s"


@register.filter
def grouped(value: Any) -> str:
    """A whole number with commas between thousands, as in the agent's sentences."""
    if value is None or value == "":
        return DASH
    try:
        return f"{int(value):,}"
    except (TypeError, ValueError):
        return str(value)


@register.filter
def scaled(value: Any, unit: str = "") -> str:
    """A number with an SI prefix and three digits: ``12.3 Mb/s``."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return DASH
    step = 0
    while abs(number) >= 999.5 and step < len(_SCALE) - 1:
        number /= 1000
        step += 1
    digits = 0 if step == 0 or abs(number) >= 99.95 else 1 if abs(number) >= 9.995 else 2
    return f"{number:.{digits}f} {_SCALE[step]}{unit}".strip()


@register.filter
def sized(value: Any) -> str:
    """Bytes with a binary prefix: ``23.5 GiB``."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return DASH
    for unit in ("B", "KiB", "MiB", "GiB"):
        if number < 1024:
            return f"{number:.0f} {unit}" if unit == "B" or number >= 100 else f"{number:.1f} {unit}"
        number /= 1024
    return f"{number:.1f} TiB"


@register.filter
def percent(value: Any) -> str:
    """A share of one as percent."""
    try:
        return f"{float(value) * 100:.0f} %"
    except (TypeError, ValueError):
        return DASH


def _moment(value: Any) -> datetime | None:
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    if isinstance(value, (int, float)):
        return datetime.fromtimestamp(value, UTC)
    if isinstance(value, str):
        try:
            parsed = datetime.fromisoformat(value)
        except ValueError:
            return None
        return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    return None


@register.filter
def when(value: Any) -> SafeString | str:
    """A time (unix seconds, ISO 8601 or datetime) in UTC, with the machine-readable form."""
    moment = _moment(value)
    if moment is None:
        return DASH
    utc = moment.astimezone(UTC)
    return format_html(
        '<time datetime="{}" class="num">{} <small>UTC</small></time>',
        utc.isoformat(),
        utc.strftime("%Y-%m-%d %H:%M:%S"),
    )


@register.filter
def ago(value: Any) -> str:
    """How long ago a time was."""
    moment = _moment(value)
    if moment is None:
        return DASH
    return f"{duration((datetime.now(UTC) - moment).total_seconds())} ago"


@register.filter
def pretty(value: Any) -> str:
    """JSON as text, for a diff or a curl line."""
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


@register.filter
def key_of(pointer: str) -> str:
    """The last token of a pointer."""
    return last(pointer)


@register.filter
def item(mapping: Any, key: Any) -> Any:
    """``mapping[key]``, or None."""
    return mapping.get(key) if isinstance(mapping, dict) else None


@register.filter
def joined(values: Iterable[Any] | None, separator: str = ", ") -> str:
    """Values as one text."""
    return separator.join(str(value) for value in values or ())


@register.filter
def lower_first(text: str) -> str:
    """A title inside a sentence; abbreviations stay as they are."""
    return text if text[:2].isupper() else text[:1].lower() + text[1:]


@register.filter
def below(pointer: str, token: str) -> str:
    """The pointer one token further down."""
    return pointer + join(token)


@register.filter
def owner(pointer: str) -> str:
    """The object that a pointer leads into, in few words: ``neighbors 192.0.2.1 ipv4 unicast``."""
    tokens = [
        token.replace("_", " ") for token in split(pointer) if token not in ("routing", "policy", "match")
    ]
    return " ".join(tokens)


@register.filter
def phrases(settings: Any) -> str:
    """Match conditions in one line."""
    if not isinstance(settings, dict):
        return ""
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in settings.items())


@register.filter
def words(name: Any) -> str:
    """A snake_case name as words."""
    return str(name).replace("_", " ")


_TONES = {
    "good": "up established full ok running done confirmed committed succeeded cleared reachable permanent"
    " working",
    "warn": "active connect opensent openconfirm 2-way exstart exchange loading init attempt queued disabled"
    " minor warning raised incomplete partly",
    "bad": "down idle failed error unreachable rolled_back expired dead critical major inactive",
}


@register.filter
def tone(state: Any) -> str:
    """Whether a state's word is good, warn or bad; empty for none of these."""
    word = str(state).lower().split("/")[0].split(" ")[0]
    return next((name for name, states in _TONES.items() if word in states.split()), "")
