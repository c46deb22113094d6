"""Secrets at rest: sealed with a key that never leaves the agent's state directory."""

from __future__ import annotations

import logging
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken

from appliance.engine import durable

log = logging.getLogger(__name__)

PREFIX = "$sealed$"
"""Prefix of sealed text; a Fernet token follows (AES-128-CBC with HMAC-SHA256)."""
KEY_FILE = "secret.key"


class SealError(ValueError):
    """Sealed text that this router's key does not open. Reveals nothing of the secret."""


class SecretBox:
    """Seals and opens secrets with one key."""

    def __init__(self, key: bytes) -> None:
        self._fernet = Fernet(key)

    @classmethod
    def open(cls, state_dir: Path) -> SecretBox:
        """The box whose key is in ``state_dir``; the key is made at first use, readable by its owner only.

        An unusable key is set aside and another one made: texts sealed by the old key stay sealed.
        """
        path = state_dir / KEY_FILE
        try:
            return cls(path.read_bytes().strip())
        except FileNotFoundError:
            pass
        except (OSError, ValueError) as error:
            log.error("%s cannot be used, and is set aside: %s", path, error)
            durable.rename(path, f"{KEY_FILE}.damaged")
        # Whole or absent: a power cut never leaves half a key, whose sealed texts nothing could open.
        durable.write(path, Fernet.generate_key() + b"\n")
        return cls(path.read_bytes().strip())

    def seal(self, clear: str) -> str:
        """Sealed text, a different one at each call."""
        return PREFIX + self._fernet.encrypt(clear.encode()).decode()

    def unseal(self, text: str) -> str:
        """The secret in sealed text; text that is not sealed is the secret itself. Raises SealError."""
        if not text.startswith(PREFIX):
            return text
        try:
            return self._fernet.decrypt(text.removeprefix(PREFIX).encode()).decode()
        except (InvalidToken, UnicodeError):
            raise SealError("was not sealed by this router: give the secret itself") from None
