"""The identity of each rule of the running document's access lists: its effect, as text."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping

from appliance.config.document import RouterConfig

_BYTES = 8


class DocumentRules:
    """By access list and sequence a short text, equal for rules with the same effect, wherever they are.

    Computed once for each document: there may be ten thousand rules.
    """

    def __init__(self, running: Callable[[], RouterConfig]) -> None:
        self._running = running
        self._known: tuple[RouterConfig, Mapping[str, Mapping[int, str]]] | None = None

    def __call__(self) -> Mapping[str, Mapping[int, str]]:
        """The texts for the running document."""
        config, known = self._running(), self._known
        if known is None or known[0] is not config:
            known = (
                config,
                {
                    name: {
                        sequence: _digest(rule.model_dump_json(exclude={"description"}))
                        for sequence, rule in one.ordered()
                    }
                    for name, one in config.acls.items()
                },
            )
            self._known = known
        return known[1]


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=_BYTES).hexdigest()
