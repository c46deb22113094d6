"""Parsing of untrusted XML: no document type, so no entity that could expand or reach a file."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from ova.errors import OvaError


def parse(data: bytes) -> Element:
    """The root element. Raises OvaError."""
    builder = TreeBuilder()
    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True

    def start(tag: str, attributes: dict[str, str]) -> None:
        builder.start(_name(tag), {_name(key): value for key, value in attributes.items()})

    def end(tag: str) -> None:
        builder.end(_name(tag))

    def refuse(*_: object) -> None:
        raise OvaError("descriptor: it has a document type, which OVF does not")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(data, True)
        return builder.close()
    except (expat.ExpatError, ET.ParseError) as error:
        raise OvaError(f"descriptor: it is not XML: {error}") from None


def _name(expat_name: str) -> str:
    """``{namespace}local``, ElementTree's notation."""
    return f"{{{expat_name}" if "}" in expat_name else expat_name
