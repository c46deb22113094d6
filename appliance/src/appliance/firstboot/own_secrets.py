"""Keys that are this instance's own: ssh host keys, and key and certificate of the web page."""

from __future__ import annotations

import datetime as dt
import ipaddress
from collections.abc import Iterable
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from appliance.engine import durable

_LIFETIME = dt.timedelta(days=10 * 365)
_EPOCH = dt.datetime(2025, 1, 1, tzinfo=dt.UTC)
"""No router with this program is older; used where the release does not say when it was built."""
_SUBJECT_CHARS = 64
"""Longest common name (RFC 5280, ub-common-name)."""


def ensure_ssh_host_keys(directory: Path, *, renew: bool = False) -> list[Path]:
    """Make the missing host keys, or with ``renew`` all of them; returns those that were made."""
    durable.make_folder(directory, 0o700)
    made = []
    for kind in ("ed25519", "ecdsa"):
        path = directory / f"ssh_host_{kind}_key"
        if path.exists() and not renew:
            continue
        key: ed25519.Ed25519PrivateKey | ec.EllipticCurvePrivateKey
        key = (
            ed25519.Ed25519PrivateKey.generate()
            if kind == "ed25519"
            else ec.generate_private_key(ec.SECP256R1())
        )
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption()
        )
        public = key.public_key().public_bytes(
            serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
        )
        durable.write(path.with_name(f"{path.name}.pub"), public + b" millrace\n", 0o644)
        # The private key last: while it is missing, both are made again.
        durable.write(path, private)
        made.append(path)
    return made


def ensure_certificate(
    directory: Path, hostname: str, names: Iterable[str], addresses: Iterable[str], *, built_s: int | None,
    renew: bool = False,
) -> bool:  # fmt: skip
    """Make ``server.key`` and ``server.pem`` unless they are there; True when they were made.

    The certificate signs itself and is valid for ten years from a day before the release was built: the clock
    of a new machine may be wrong, and must not make its page unreachable.
    """
    certificate_file, key_file = directory / "server.pem", directory / "server.key"
    durable.make_folder(directory, 0o700)
    if certificate_file.exists() and key_file.exists() and not renew:
        return False
    key = ec.generate_private_key(ec.SECP256R1())
    start = (dt.datetime.fromtimestamp(built_s, dt.UTC) if built_s else _EPOCH) - dt.timedelta(days=1)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, hostname[:_SUBJECT_CHARS])])
    alternatives: list[x509.GeneralName] = [x509.DNSName(name) for name in dict.fromkeys([hostname, *names])]
    alternatives += [x509.IPAddress(ipaddress.ip_address(text)) for text in dict.fromkeys(addresses)]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + _LIFETIME)
        .add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    # A key without its certificate is made again with it; the other way round they would not match.
    certificate_file.unlink(missing_ok=True)
    durable.write(
        key_file,
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ),
    )
    durable.write(certificate_file, certificate.public_bytes(serialization.Encoding.PEM), 0o644)
    return True
