r"""``python -m appliance.upgrade.make``: an upgrade file from a root file system, and the key that signs it.

    python -m appliance.upgrade.make --new-key .keys/upgrade.pem --public upgrade.pub
    python -m appliance.upgrade.make --root root.ext4 --release release.json --key .keys/upgrade.pem \
        --out dist

The same image and key give the same bytes. Exit status: 0 done, 1 refused, 2 not understood.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

from appliance.errors import MillraceError
from appliance.upgrade import bundle, release, signing, zstandard
from appliance.upgrade.bundle import MANIFEST, MAX_BUNDLE_BYTES, ROOT, SIGNATURE, Manifest
from appliance.upgrade.errors import UpgradeRefused

_CHUNK_BYTES = 1 << 20


def make(root: Path, release_file: Path, key: Path, directory: Path) -> Path:
    """Write the upgrade file and return where it is. Raises UpgradeRefused, OSError."""
    made_of = release.read(release_file)
    directory.mkdir(parents=True, exist_ok=True)
    suffix = "" if made_of.dataplane == "vpp" else f"-{made_of.dataplane}"
    target = directory / f"millrace-{made_of.version}{suffix}.mru"
    with tempfile.TemporaryDirectory(prefix=".mru-", dir=directory) as scratch:
        packed = Path(scratch) / ROOT
        zstandard.compress(root, packed)
        if packed.stat().st_size > MAX_BUNDLE_BYTES - _CHUNK_BYTES:
            raise UpgradeRefused(f"packed, the image has {packed.stat().st_size} bytes: too many to upgrade")
        manifest = Manifest(
            version=made_of.version,
            commit=made_of.commit,
            built_s=made_of.built_s,
            dataplane=made_of.dataplane,
            schema_version=made_of.schema_version,
            packed_bytes=packed.stat().st_size,
            packed_sha256=_sha256(packed),
            root_bytes=root.stat().st_size,
            root_sha256=_sha256(root),
        )
        raw = manifest.model_dump_json(indent=2).encode() + b"\n"
        finished = Path(scratch) / target.name
        with tarfile.open(finished, "w", format=tarfile.USTAR_FORMAT) as archive:
            for name, content in ((MANIFEST, raw), (SIGNATURE, signing.sign(key, raw))):
                archive.addfile(_member(name, len(content), made_of.built_s), io.BytesIO(content))
            with packed.open("rb") as stream:
                archive.addfile(_member(ROOT, manifest.packed_bytes, made_of.built_s), stream)
        finished.rename(target)
    return target


def _member(name: str, size: int, mtime_s: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.mtime, member.mode = size, mtime_s, 0o644
    return member


def _sha256(path: Path) -> str:
    found = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            found.update(chunk)
    return found.hexdigest()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="appliance.upgrade.make", description="Make an upgrade file.")
    parser.add_argument("--new-key", type=Path, help="make this key, unless it is there")
    parser.add_argument("--public", type=Path, help="with --new-key: where its public half goes")
    parser.add_argument("--root", type=Path, help="ext4 image of a slot")
    parser.add_argument("--release", type=Path, help="release.json of the image")
    parser.add_argument("--key", type=Path, help="Ed25519 key, PEM")
    parser.add_argument("--out", type=Path, help="directory of the upgrade file")
    parser.add_argument(
        "--check", type=Path, metavar="FILE", help="with --public: is this upgrade file good?"
    )
    options = parser.parse_args(arguments)
    try:
        if options.new_key is not None and options.public is not None:
            signing.make_key(options.new_key)
            options.public.write_bytes(signing.public_pem(options.new_key))
            options.public.chmod(0o644)
            sys.stdout.write(f"{options.new_key}\n{options.public}\n")
        elif options.check is not None and options.public is not None:
            found = bundle.open_bundle(options.check, options.public)
            bundle.check_packed(found)
            sys.stdout.write(found.manifest.model_dump_json(indent=2) + "\n")
        elif None not in (options.root, options.release, options.key, options.out):
            made = make(options.root, options.release, options.key, options.out)
            sys.stdout.write(f"{made}\n")
        else:
            parser.error("give --new-key and --public; --check and --public; or --root --release --key --out")
    except (MillraceError, OSError) as error:
        sys.stderr.write(f"upgrade: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
