"""Secrets at rest: sealed with a key that never leaves the agent's state directory."""

from __future__ import annotations

import os
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken

PREFIX = "$sealed$"
"""How sealed text begins; a Fernet token follows (AES-128-CBC with HMAC-SHA256)."""
KEY_FILE = "secret.key"


class SealError(ValueError):
    """Sealed text that this router's key does not open. Says nothing of the secret."""


class SecretBox:
    """Seals and opens secrets with one key."""

    def __init__(self, key: bytes) -> None:
        self._fernet = Fernet(key)

    @classmethod
    def open(cls, state_dir: Path) -> SecretBox:
        """The box whose key is in ``state_dir``; the key is made at first use, readable by its owner only."""
        path = state_dir / KEY_FILE
        if not path.exists():
            _create(path, Fernet.generate_key())
        return cls(path.read_bytes().strip())

    def seal(self, clear: str) -> str:
        """Sealed text, another one at each call."""
        return PREFIX + self._fernet.encrypt(clear.encode()).decode()

    def unseal(self, text: str) -> str:
        """The secret in sealed text; text that is not sealed is the secret itself. Raises SealError."""
        if not text.startswith(PREFIX):
            return text
        try:
            return self._fernet.decrypt(text.removeprefix(PREFIX).encode()).decode()
        except (InvalidToken, UnicodeError):
            raise SealError("was not sealed by this router: give the secret itself") from None


def _create(path: Path, key: bytes) -> None:
    # The key comes into its place whole: a cut of power never leaves half a key that would seal for nobody.
    new = path.with_suffix(".new")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(descriptor, key + b"\n")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    new.rename(path)
