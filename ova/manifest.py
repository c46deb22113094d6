"""Manifest and certificate of a package (DSP0243, 6.1): digests, and a signature of them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import BinaryIO

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key

from ova.errors import OvaError

_LINE = re.compile(r"(SHA256|SHA512)\((?P<name>[^()]+)\)= ?(?P<digest>[0-9a-fA-F]+)")
_SIGNATURE = re.compile(r"SHA256\((?P<name>[^()]+)\)= ?(?P<signature>[0-9a-fA-F]+)\r?\n")
_CHUNK_BYTES = 1 << 20
Digests = dict[str, tuple[str, str]]
"""File name to algorithm (``sha256``, ``sha512``) and lower-case digest."""


def digest(stream: BinaryIO, algorithm: str = "sha256") -> str:
    """The digest of the rest of a stream."""
    found = hashlib.new(algorithm)
    while chunk := stream.read(_CHUNK_BYTES):
        found.update(chunk)
    return found.hexdigest()


def render(digests: Mapping[str, str]) -> bytes:
    """A manifest of SHA-256 digests."""
    return "".join(f"SHA256({name})= {value}\n" for name, value in digests.items()).encode()


def read(manifest: bytes) -> Digests:
    """The digests in a manifest. Raises OvaError; SHA-1 is refused, because it no longer proves anything."""
    found: Digests = {}
    for number, line in enumerate(manifest.decode("utf-8", "replace").splitlines(), 1):
        match = _LINE.fullmatch(line.strip())
        if match is None:
            raise OvaError(f"manifest, line {number}: it is not SHA256(FILE)= DIGEST")
        if match["name"] in found:
            raise OvaError(f"manifest, line {number}: {match['name']} comes twice")
        algorithm = match[1].lower()
        if len(match["digest"]) != hashlib.new(algorithm).digest_size * 2:
            raise OvaError(f"manifest, line {number}: the digest's length does not fit {match[1]}")
        found[match["name"]] = algorithm, match["digest"].lower()
    return found


def sign(manifest: bytes, manifest_name: str, key_pem: bytes, certificate_pem: bytes) -> bytes:
    """A ``.cert`` file: RSA signature of the manifest, and the certificate. Raises OvaError."""
    try:
        key = load_pem_private_key(key_pem, password=None)
        certificate = x509.load_pem_x509_certificate(certificate_pem)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise OvaError(f"the signing key or its certificate cannot be read: {error}") from None
    if not isinstance(key, RSAPrivateKey):
        raise OvaError("the signing key is not an RSA key, and OVF knows no other")
    if key.public_key() != certificate.public_key():
        raise OvaError("the certificate is of another key than the signing key")
    signature = key.sign(manifest, PKCS1v15(), SHA256())
    return f"SHA256({manifest_name})= {signature.hex()}\n".encode() + certificate.public_bytes(Encoding.PEM)


def verify(certificate_file: bytes, manifest: bytes, manifest_name: str) -> str:
    """The signer's subject if the signature in a ``.cert`` file is of this manifest.

    The caller decides whether to trust the certificate. Raises OvaError.
    """
    match = _SIGNATURE.match(certificate_file.decode("ascii", "replace"))
    if match is None or match["name"] != manifest_name:
        raise OvaError(f"certificate: its first line is not SHA256({manifest_name})= SIGNATURE")
    try:
        certificate = x509.load_pem_x509_certificate(certificate_file[match.end() :])
        key = certificate.public_key()
        if not isinstance(key, RSAPublicKey):
            raise OvaError("certificate: its key is not an RSA key")
        key.verify(bytes.fromhex(match["signature"]), manifest, PKCS1v15(), SHA256())
    except (ValueError, UnsupportedAlgorithm) as error:
        raise OvaError(f"certificate: it cannot be read: {error}") from None
    except InvalidSignature:
        raise OvaError("certificate: the signature is not of this manifest") from None
    return certificate.subject.rfc4514_string()
