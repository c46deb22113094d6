"""Access lists and their bindings."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.config.context import Context
from appliance.config.pointer import escape
from appliance.errors import Problem


def check(context: Context) -> Iterator[Problem]:
    """All access lists fit into the data plane."""
    config, can = context.config, context.capabilities
    rules = sum(len(acl.rules) for acl in config.acls.values())
    if rules > can.max_acl_rules:
        yield Problem(
            "/acls", f"there are {rules} rules; the {can.driver} data plane takes {can.max_acl_rules} at most"
        )
    bound = {name: {*interface.acl_in, *interface.acl_out} for name, interface in config.interfaces.items()}
    reflecting_lists = {
        name
        for name in set().union(*bound.values()) & config.acls.keys()
        if any(rule.action == "permit_reflect" for rule in config.acls[name].rules.values())
    }
    reflecting = {name for name, names in bound.items() if names & reflecting_lists}
    limit = can.max_reflecting_interfaces
    if limit is not None and len(reflecting) > limit:
        message = f"at most {limit} interfaces can have access lists with permit_reflect"
        for name in sorted(reflecting)[limit:]:
            yield Problem(f"/interfaces/{escape(name)}", message)
