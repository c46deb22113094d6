"""Names of access lists."""

from __future__ import annotations

from typing import Annotated

from pydantic import StringConstraints

from frr_config.references import RefersTo

AclName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,47}$")]
"""Name of an access list; names of this length fit into VPP's tag."""

AclReference = Annotated[AclName, RefersTo("/acls")]
"""Name of an access list that the document has."""
