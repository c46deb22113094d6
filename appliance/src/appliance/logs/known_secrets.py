"""The secrets of the running document, and of earlier ones, which may still be in the logs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from appliance.config.document import RouterConfig
from appliance.config.dump import dump
from appliance.config.secrets_in import secrets_of
from appliance.errors import MillraceError
from appliance.secrets import SealError, SecretBox

REVISIONS = 20
"""How many past revisions' secrets are also known."""


class KnownSecrets:
    """Kept in memory only; read once, and then with each new running document."""

    def __init__(
        self,
        running: Callable[[], RouterConfig],
        revisions: Callable[[], list[int]],
        document: Callable[[int], Mapping[str, Any]],
        box: Callable[[], SecretBox],
    ) -> None:
        self._running, self._revisions, self._document, self._box = running, revisions, document, box
        self._seen: RouterConfig | None = None
        self._secrets: set[str] | None = None

    def __call__(self) -> frozenset[str]:
        """All of them."""
        running = self._running()
        if self._secrets is None:
            self._secrets = self._of_the_past()
        if running is not self._seen:
            self._secrets |= set(filter(None, secrets_of(dump(running, "reveal")).values()))
            self._seen = running
        return frozenset(self._secrets)

    def _of_the_past(self) -> set[str]:
        found: set[str] = set()
        box = self._box()
        for number in self._revisions():
            with suppress(MillraceError, OSError):
                for sealed in secrets_of(self._document(number)).values():
                    with suppress(SealError):
                        found.add(box.unseal(str(sealed)))
        return found - {""}
