"""The OVF environment (DSP0243, chapter 11), which vSphere passes to a guest. Pure.

The XML comes from outside: a document type could expand without limit or fetch other files, so none is read.
"""

from __future__ import annotations

from typing import Any
from xml.parsers import expat

from appliance.errors import Problem, ValidationFailed

DEFAULT_ID = "ovf"
"""Instance id where no property gives one."""
MAX_BYTES = 16 * 1024 * 1024
"""Size of the largest environment; it may hold a whole configuration document."""
_NAMESPACE = "http://schemas.dmtf.org/ovf/environment/1"
_MAX_PROPERTIES = 256


def properties(xml: bytes) -> dict[str, Any]:
    """Key to value of this machine's own properties. Raises ValidationFailed.

    A class before the key (``com.example.hostname``) is cut off. Properties of other machines of the vApp
    (``Entity`` elements) are not read.
    """
    if len(xml) > MAX_BYTES:
        raise _refused(f"is larger than {MAX_BYTES // 1024 // 1024} MB")
    reader = _Reader()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.StartDoctypeDeclHandler = _no_doctype
    try:
        parser.Parse(xml, True)
    except expat.ExpatError as error:
        raise _refused(f"is not XML: {error}") from None
    return {"instance_id": DEFAULT_ID} | reader.values


class _Reader:
    """Collects ``/Environment/PropertySection/Property``."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self._path: list[str] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._path.append(name.removeprefix(f"{_NAMESPACE} "))
        if len(self._path) == 1 and name != f"{_NAMESPACE} Environment":
            raise _refused("is not an OVF environment")
        if self._path == ["Environment", "PropertySection", "Property"]:
            key = attributes.get(f"{_NAMESPACE} key", "").rpartition(".")[2]
            if len(self.values) >= _MAX_PROPERTIES:
                raise _refused(f"has more than {_MAX_PROPERTIES} properties")
            if value := attributes.get(f"{_NAMESPACE} value", "").strip():
                self.values[key] = value

    def end(self, name: str) -> None:  # noqa: ARG002 - expat's signature
        self._path.pop()


def _no_doctype(name: str, *_: Any) -> None:
    raise _refused(f"has a document type ({name[:40]}), which is not read")


def _refused(message: str) -> ValidationFailed:
    return ValidationFailed([Problem("", f"the OVF environment {message}")])
