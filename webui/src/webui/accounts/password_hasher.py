"""The hashing of passwords: Argon2id at a cost that a small appliance can bear, one at a time."""

from __future__ import annotations

from django.contrib.auth.hashers import Argon2PasswordHasher

from webui.accounts.hashing_queue import queue


class ApplianceArgon2Hasher(Argon2PasswordHasher):
    """Argon2id with 32 MiB, three passes, one lane.

    OWASP asks for at least 19 MiB and two passes with one lane. Django's 100 MiB on eight lanes suits a
    server farm; here it is five percent of a router with 2 GB, before any login. A hash that was made with
    other parameters is replaced at its owner's next login.
    """

    time_cost = 3
    memory_cost = 32 * 1024
    parallelism = 1

    def encode(self, password: str, salt: str) -> str:
        """The hash of a password."""
        with queue.turn():
            return str(super().encode(password, salt))

    def verify(self, password: str, encoded: str) -> bool:
        """Whether it is the password."""
        with queue.turn():
            return bool(super().verify(password, encoded))
