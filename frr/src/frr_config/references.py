"""References: texts of the document that name another of its objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from frr_config.types import DEFAULT_VRF, InterfaceName, VrfName

KEYWORD = "x-refers-to"
"""The keyword of the JSON schema for a reference."""
MAY_BE_ABSENT = "x-may-be-absent"
"""An additional keyword: the text also has a meaning without an object of that name."""
OWN_VRF = "x-own-vrf"
"""An additional keyword: in the routing of a VRF, the mapping is that of the same VRF."""


@dataclass(frozen=True)
class RefersTo:
    """The text is a key of the mapping at ``path``, a JSON pointer into the router's document.

    It is declared once, in the annotation of the text: of a field, of a list's items, of a mapping's keys, or
    of one alternative of a union. Validation, the names that forms and the command line offer, and the list
    of places where an object is used are derived from it.
    """

    path: str
    must_exist: bool = True
    """False where the text also has a meaning without an object of that name."""
    words: tuple[str, ...] = ()
    """Texts that are not names and stand for something that always exists."""
    own_vrf: bool = False
    """The mapping is that of the VRF that contains the text: below ``/vrfs/NAME`` for the routing of a
    VRF.
    """

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
