"""References: texts of the document that name another object of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from frr_config.types import DEFAULT_VRF, InterfaceName, VrfName

KEYWORD = "x-refers-to"
"""The keyword of the JSON schema that says it."""
MAY_BE_ABSENT = "x-may-be-absent"
"""Beside it: the text also means something without an object of that name."""
OWN_VRF = "x-own-vrf"
"""Beside it: in the routing of a VRF the mapping is that of the same VRF."""


@dataclass(frozen=True)
class RefersTo:
    """The text is a key of the mapping at ``path``, a JSON pointer into the router's document.

    Said once, in the annotation of the text: of a field, of a list's items, of a mapping's keys, or of one
    alternative of a union. Validation, the names that forms and the command line offer, and the places where
    an object is used derive from it.
    """

    path: str
    must_exist: bool = True
    """False where the text also means something without an object of that name."""
    words: tuple[str, ...] = ()
    """Texts that are no names, and stand for something that is always there."""
    own_vrf: bool = False
    """The mapping is that of the VRF which the text is in: below ``/vrfs/NAME`` in the routing of one."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        absent = {} if self.must_exist else {MAY_BE_ABSENT: True}
        own = {OWN_VRF: True} if self.own_vrf else {}
        return {**handler(schema), KEYWORD: self.path, **absent, **own}


VrfReference = Annotated[VrfName, RefersTo("/vrfs")]
"""Name of a VRF that the document has."""
AnyVrf = Annotated[VrfName, RefersTo("/vrfs", words=(DEFAULT_VRF,))]
"""A VRF, or the default one, which everything is in that is put into none."""

InterfaceReference = Annotated[InterfaceName, RefersTo("/interfaces")]
"""Name of an interface that the document has."""
