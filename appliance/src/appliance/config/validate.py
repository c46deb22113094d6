"""Cross-reference validation: what no field can know alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from appliance.config.capabilities import Capabilities
from appliance.config.context import Context
from appliance.config.document import RouterConfig
from appliance.config.references import dangling
from appliance.errors import Problem, ValidationFailed
from appliance.features.registry import declared

CHECKS: tuple[Callable[[Context], Iterator[Problem]], ...] = tuple(declared("checks", "check"))
"""Those of the features. A name that the models mark as a reference is there, or was told already."""


def check(config: RouterConfig, capabilities: Capabilities) -> list[Problem]:
    """Everything that stops this document from running on a data plane with these capabilities.

    Pure, and linear in the document but for sorting. Empty means it can be compiled and committed.
    """
    context = Context.of(config, capabilities)
    problems = dangling(config)
    problems.extend(problem for part in CHECKS for problem in part(context))
    return problems


def require_valid(config: RouterConfig, capabilities: Capabilities) -> None:
    """Raises ValidationFailed when ``check`` finds something."""
    if problems := check(config, capabilities):
        raise ValidationFailed(problems)
