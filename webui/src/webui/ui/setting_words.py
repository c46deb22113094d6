"""A place in the document in words: the object, and the setting in it."""

from __future__ import annotations

from appliance.config import schema
from appliance.config.pointer import join, split
from appliance.config.schema import JsonSchema
from appliance.errors import NotFound
from webui.ui.objects import inside, object_of


def words_of(pointer: str) -> str:
    """``interface lan0: Addresses``; of an object itself its noun and name."""
    if not pointer:
        return "the whole document"
    tokens, held = split(pointer), object_of(pointer)
    size = len(split(held))
    settings = [one for end in range(size, len(tokens)) if (one := _setting(tokens, end))]
    plain = tokens[-1].replace("_", " ")
    noun = inside(pointer)
    # Objects without a page have no title in the schema.
    noun = str(_at(tokens).get("title") or noun) if held == pointer and noun == plain else noun
    return ": ".join([noun, *([", ".join(settings)] if settings else [])])


def _setting(tokens: list[str], end: int) -> str:
    """A token's own title, or the title of the entry that it names; nothing for a list's entries before
    theirs.
    """
    node, around = _at(tokens[: end + 1]), _at(tokens[:end])
    if around.get("type") == "array":
        return ""
    if "properties" in around:
        holds_entries = node.get("type") == "object" and "properties" not in node
        return "" if holds_entries and end + 1 < len(tokens) else str(node.get("title") or tokens[end])
    noun = around.get("x-noun") or str(around.get("title") or tokens[end - 1]).removesuffix("s").lower()
    return f"{noun} {tokens[end]}"


def _at(tokens: list[str]) -> JsonSchema:
    try:
        return schema.at(join(tokens))
    except NotFound:
        return {}
