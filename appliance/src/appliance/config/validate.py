"""Cross-reference validation: the checks that no field can make alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from appliance.config.capabilities import Capabilities
from appliance.config.context import Context
from appliance.config.document import RouterConfig
from appliance.config.references import dangling
from appliance.config.vrf_view import pointer_in
from appliance.errors import Problem, ValidationFailed
from appliance.features.registry import declared

CHECKS: tuple[Callable[[Context], Iterator[Problem]], ...] = tuple(declared("checks", "check"))
"""The checks of the features. A name that the models mark as a reference exists, or is already reported."""
OF_EACH_VRF: tuple[Callable[[Context], Iterator[Problem]], ...] = tuple(declared("checks", "check_vrf"))
"""The checks of each VRF's own parts: they get the document as one VRF sees it."""

_SECTIONS = {name: place for place, name in enumerate(RouterConfig.model_fields)}


def check(config: RouterConfig, capabilities: Capabilities) -> list[Problem]:
    """Everything that stops this document from running on a data plane with these capabilities.

    Pure, and linear in the document except for sorting. Empty means it can be compiled and committed.
    Problems come in the order of the document's sections.
    """
    context = Context.of(config, capabilities)
    problems = dangling(config)
    problems.extend(problem for part in CHECKS for problem in part(context))
    for view in context.each_vrf():
        for part in OF_EACH_VRF:
            found = part(view)
            problems.extend(
                replace(problem, pointer=pointer_in(view.vrf, problem.pointer)) for problem in found
            )
    return sorted(problems, key=_section)


def _section(problem: Problem) -> int:
    return _SECTIONS.get(problem.pointer.removeprefix("/").partition("/")[0], -1)


def require_valid(config: RouterConfig, capabilities: Capabilities) -> None:
    """Raises ValidationFailed when ``check`` finds something."""
    if problems := check(config, capabilities):
        raise ValidationFailed(problems)
