"""`python -m tests.image.ready`: prints what will be tested; 1 where nothing can be tested.

A run that skips every test succeeds without proving anything.
"""

import sys

import pytest

from tests.image import artefacts, hypervisor


def main() -> int:
    """0 with an image and a QEMU to boot it."""
    try:
        version, build = hypervisor.require(), artefacts.find()
    except pytest.skip.Exception as missing:
        print(f"millrace: {missing.msg}", file=sys.stderr)
        return 1
    print(f"millrace: testing {build.disk.name} under QEMU {version.removeprefix('version ')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
