"""Password hashes of crypt(3), which Python itself no longer has: the system's libcrypt computes them."""

from __future__ import annotations

import ctypes
import secrets
from functools import cache

from appliance.errors import MillraceError

_LIBRARY = "libcrypt.so.1"
_DATA_BYTES = 32768
"""Size of libxcrypt's struct crypt_data."""
_METHOD = b"$6$"
"""SHA-512: the one that the shadow file and the web page, wherever it runs, both read."""
_ROUNDS = 100_000
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
_GROUPS, _GROUP = 4, 5


class CryptError(MillraceError):
    """libcrypt is missing or does not know this method."""


def hash_password(password: str) -> str:
    """A salted SHA-512 hash for shadow(5). Raises CryptError."""
    salt = secrets.token_hex(8).encode()
    return _crypt(password, b"%srounds=%d$%s" % (_METHOD, _ROUNDS, salt))


def is_usable(hashed: str) -> bool:
    """Whether one can sign in with this hash: its method is known and it is whole."""
    try:
        made = _crypt("not the password", hashed.encode())
    except CryptError:
        return False
    return len(made) == len(hashed)


def verify(password: str, hashed: str) -> bool:
    """Whether the password is the one of the hash."""
    try:
        return secrets.compare_digest(_crypt(password, hashed.encode()).encode(), hashed.encode())
    except CryptError:
        return False


def generate_password() -> str:
    """A password of 98 bits that a person can type from a screen: no two letters look alike."""
    groups = ("".join(secrets.choice(_LETTERS) for _ in range(_GROUP)) for _ in range(_GROUPS))
    return "-".join(groups)


def _crypt(password: str, setting: bytes) -> str:
    room = ctypes.create_string_buffer(_DATA_BYTES)
    answer = _library().crypt_r(password.encode(), setting, room)
    text = answer.decode("ascii", "replace") if answer else "*0"
    # crypt(3): an answer that begins with * is a failure, and no password hashes to it.
    if text.startswith("*"):
        raise CryptError("the system's libcrypt does not know this kind of password hash")
    return text


@cache
def _library() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(_LIBRARY)
    except OSError as error:
        raise CryptError(f"the system's libcrypt cannot be loaded: {error}") from None
    library.crypt_r.restype = ctypes.c_char_p
    library.crypt_r.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p]
    return library
