"""Access lists' use of VPP's main heap. Pure.

Measured with VPP 26.06: the first bound list makes tables of 75 MB, which stay; a rule takes up to 180 bytes
in its list, and up to 185 more for each interface and direction that the list is bound to. With a heap of 256
MB, a list of 65,000 rules fitted on 12 interfaces; on 16 it ended VPP.
"""

from __future__ import annotations

from collections.abc import Iterator

from appliance.config.document import RouterConfig
from appliance.config.vpp_heap import HeapUse

_TABLES_BYTES = 76_000_000
RULE_BYTES = 180
BOUND_RULE_BYTES = 190
_BUILT_IN_RULES = 5
"""At most, before those of the document, and one for each address (``built_in.py``)."""


def heap_uses(config: RouterConfig, workers: int) -> Iterator[HeapUse]:  # noqa: ARG001 - the same for any number
    """Rules in their lists, and again for each binding."""
    rules = {name: len(acl.rules) for name, acl in config.acls.items()}
    bindings = [
        (sum(rules.get(name, 0) for name in bound), _BUILT_IN_RULES + len(interface.addresses))
        for interface in config.interfaces.values()
        for bound in (interface.acl_in, interface.acl_out)
        if bound
    ]
    built_in = sum(first for _, first in bindings)
    listed, bound_rules = sum(rules.values()) + built_in, sum(own for own, _ in bindings) + built_in
    size_bytes = listed * RULE_BYTES + bound_rules * BOUND_RULE_BYTES
    if bindings:
        size_bytes += _TABLES_BYTES
    if size_bytes:
        total, places = sum(rules.values()), len(bindings)
        what = f"access lists ({total:,} rule{'s'[: total != 1]}, bound {places:,} time{'s'[: places != 1]})"
        yield HeapUse(what, size_bytes)
