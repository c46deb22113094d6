"""Password hashes of the host (crypt(3)), as an installer provides them, for the first sign-in.

Django stores the password with its own hasher at the first sign-in that succeeds.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

from django.contrib.auth.hashers import BasePasswordHasher
from django.utils.crypto import constant_time_compare

from webui.accounts.hashing_queue import queue

_LIBRARY = "libcrypt.so.1"
_DATA_BYTES = 32768
"""Size of libxcrypt's struct crypt_data."""


class CryptPasswordHasher(BasePasswordHasher):
    """Verifies ``crypt$<hash of crypt(3)>``; creates no such hashes."""

    algorithm = "crypt"

    def encode(self, password: str, salt: str) -> str:
        """Hash with a setting of crypt(3), such as ``$6$salt``. Raises ValueError for an unknown one."""
        room = ctypes.create_string_buffer(_DATA_BYTES)
        with queue.turn():
            answer = _library().crypt_r(password.encode(), salt.encode(), room)
        # crypt(3): a result that begins with * is a failure.
        if not answer or answer.startswith(b"*"):
            raise ValueError("crypt(3) does not know this method")
        return f"{self.algorithm}${answer.decode('ascii')}"

    def verify(self, password: str, encoded: str) -> bool:
        """Whether it is the password. A text with a zero byte, which ends a C string, never is."""
        if "\x00" in password:
            return False
        try:
            return constant_time_compare(self.encode(password, self.decode(encoded)["hash"]), encoded)
        except ValueError:
            return False

    def decode(self, encoded: str) -> dict[str, Any]:
        """``algorithm`` and ``hash``."""
        algorithm, _, hashed = encoded.partition("$")
        return {"algorithm": algorithm, "hash": hashed}

    def safe_summary(self, encoded: str) -> dict[Any, Any]:
        """The parts that may be shown."""
        return {"algorithm": self.decode(encoded)["algorithm"]}

    def must_update(self, encoded: str) -> bool:  # noqa: ARG002 - Django's signature
        """Always true, so that the preferred hasher takes over."""
        return True

    def harden_runtime(self, password: str, encoded: str) -> None:
        """Nothing to do: the method's own rounds are in the hash."""


@cache
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(_LIBRARY)
    library.crypt_r.restype = ctypes.c_char_p
    library.crypt_r.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p]
    return library
