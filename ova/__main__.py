"""``python -m ova``, from the root of the repository.

    python -m ova build --disk dist/millrace.raw --version 1.2.3 --out dist
    python -m ova check dist/millrace-1.2.3.ova
    python -m ova domain --disk /images/millrace-1.2.3.qcow2 --out dist/millrace-1.2.3.xml
    python -m ova descriptors --version 1.2.3 --image millrace-1.2.3.qcow2 --out dist

SOURCE_DATE_EPOCH (seconds since 1970) becomes the time of every file in the archive.
Exit status: 0 done, 1 refused or not good, 2 not understood.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from ova import check, libvirt, package, vnf
from ova.errors import OvaError
from ova.sizes import DEFAULT_SIZE, SIZES, size_named


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except (OvaError, OSError) as error:
        sys.stderr.write(f"ova: {error}\n")
        return 1


def _build(options: argparse.Namespace) -> int:
    if (options.sign_key is None) != (options.sign_certificate is None):
        raise OvaError("--sign-key and --sign-certificate go together")
    signer = package.Signer(options.sign_key, options.sign_certificate) if options.sign_key else None
    wanted = package.Wanted(
        disk=options.disk,
        version=options.version,
        directory=options.out,
        dataplane=options.dataplane,
        mtime_s=_source_date_epoch(),
        signer=signer,
        qemu_img=options.qemu_img.split(),
    )
    made = package.build(wanted)
    sys.stdout.write(f"{made}: {made.stat().st_size / 1e6:.0f} MB\n")
    return 0


def _check(options: argparse.Namespace) -> int:
    report = check.check(options.file)
    for fact in report.facts:
        sys.stdout.write(f"{fact}\n")
    for problem in report.problems:
        sys.stderr.write(f"{options.file}: {problem}\n")
    if not report.problems:
        sys.stdout.write(f"{options.file}: good\n")
    return 1 if report.problems else 0


def _domain(options: argparse.Namespace) -> int:
    bridges = options.bridge or libvirt.Host.bridges
    host = libvirt.Host(
        options.cpus or range(2, 2 + size_named(options.size).cpus),
        options.emulator_cpus,
        bridges,
        options.hugepage_mib,
        options.numa_node,
    )
    # A name identifies the router; without one each host's libvirt generates its own UUID and MAC addresses.
    name, named = options.name or "millrace", options.name is not None
    guest = libvirt.Guest(name, size_named(options.size), options.disk, options.seed, named)
    options.out.write_bytes(libvirt.render(guest, host))
    sys.stdout.write(f"{options.out}\n")
    return 0


def _descriptors(options: argparse.Namespace) -> int:
    epoch_s = _source_date_epoch()
    for made in vnf.write(options.out, options.version, options.image, epoch_s, options.dataplane):
        sys.stdout.write(f"{made}\n")
    return 0


def _cpu_list(text: str) -> list[int]:
    """``2,4-6`` as numbers."""
    numbers: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise argparse.ArgumentTypeError(f"{text!r} is no list of CPUs, as in 2,4-6")
        numbers += range(int(first), int(last or first) + 1)
    return numbers


def _source_date_epoch() -> int:
    text = os.environ.get("SOURCE_DATE_EPOCH", "0")
    if not text.isdecimal():
        raise OvaError(f"SOURCE_DATE_EPOCH is {text!r}, not seconds since 1970")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ova", description="The image as platforms take it.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    build = commands.add_parser("build", help="an OVA from a finished disk")
    build.add_argument("--disk", type=Path, required=True, help="raw or qcow2")
    build.add_argument("--version", required=True)
    build.add_argument("--out", type=Path, required=True, help="directory of the OVA")
    build.add_argument("--dataplane", choices=("vpp", "linux"), default="vpp")
    build.add_argument("--qemu-img", default="qemu-img", help="program and words before 'convert'")
    build.add_argument("--sign-key", type=Path, help="RSA key, PEM")
    build.add_argument("--sign-certificate", type=Path, help="its certificate, PEM")
    build.set_defaults(run=_build)

    checking = commands.add_parser("check", help="whether an OVA is good")
    checking.add_argument("file", type=Path)
    checking.set_defaults(run=_check)

    domain = commands.add_parser("domain", help="a libvirt domain, tuned for forwarding")
    domain.add_argument("--name", help="also what UUID and MAC addresses follow from")
    domain.add_argument("--size", choices=[size.name for size in SIZES], default=DEFAULT_SIZE.name)
    domain.add_argument("--disk", type=Path, required=True, help="the qcow2's path on the host")
    domain.add_argument("--seed", type=Path, help="ISO with the first boot's settings")
    domain.add_argument("--cpus", type=_cpu_list, help="host CPUs, one a virtual CPU; default from 2 on")
    domain.add_argument("--emulator-cpus", type=_cpu_list, default=[0, 1], help="host CPUs of QEMU itself")
    domain.add_argument("--bridge", action="append", help="management first, then data; repeat")
    domain.add_argument("--hugepage-mib", type=int, default=1024, help="2 or 1024")
    domain.add_argument("--numa-node", type=int, help="node that holds the CPUs and NICs")
    domain.add_argument("--out", type=Path, required=True, help="file")
    domain.set_defaults(run=_domain)

    descriptors = commands.add_parser("descriptors", help="VNF and network service descriptors")
    descriptors.add_argument("--version", required=True)
    descriptors.add_argument("--dataplane", choices=("vpp", "linux"), default="vpp")
    descriptors.add_argument("--image", required=True, help="name of the image at the platform")
    descriptors.add_argument("--out", type=Path, required=True, help="directory")
    descriptors.set_defaults(run=_descriptors)
    return parser


if __name__ == "__main__":
    sys.exit(main())
