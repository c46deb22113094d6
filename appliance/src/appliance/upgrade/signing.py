"""Ed25519 (RFC 8032) signatures of upgrade files. Keys are PEM: PKCS #8 and SubjectPublicKeyInfo."""

from __future__ import annotations

import os
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from appliance.upgrade.errors import UpgradeRefused

SIGNATURE_BYTES = 64


def make_key(path: Path) -> None:
    """Make a key, readable by its owner only, unless there is one. Raises OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return
    key = Ed25519PrivateKey.generate()
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))


def public_pem(key_path: Path) -> bytes:
    """The public half of a key. Raises UpgradeRefused, OSError."""
    return _private(key_path).public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def sign(key_path: Path, data: bytes) -> bytes:
    """The signature of ``data``. Raises UpgradeRefused, OSError."""
    return _private(key_path).sign(data)


def verify(public_key_path: Path, data: bytes, signature: bytes) -> None:
    """Raises UpgradeRefused unless ``signature`` is of ``data``, by the holder of the key."""
    try:
        key = load_pem_public_key(public_key_path.read_bytes())
    except (OSError, ValueError, UnsupportedAlgorithm):
        raise UpgradeRefused("this image has no key for upgrades, so it takes none") from None
    if not isinstance(key, Ed25519PublicKey):
        raise UpgradeRefused("this image's key for upgrades is not an Ed25519 key")
    try:
        key.verify(signature, data)
    except InvalidSignature:
        raise UpgradeRefused(
            "the upgrade file is not signed by the maker of this image, or was changed since"
        ) from None


def _private(path: Path) -> Ed25519PrivateKey:
    try:
        key = load_pem_private_key(path.read_bytes(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise UpgradeRefused(f"{path.name} is not a private key in PEM: {error}") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise UpgradeRefused(f"{path.name} is not an Ed25519 key")
    return key
