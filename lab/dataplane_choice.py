"""Which data plane the lab runs, and why; installs VPP where it is requested and missing."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lab.errors import DataplaneUnavailable
from lab.layout import REPOSITORY
from lab.namespaces import Dataplane

VPP_BINARY = Path("/usr/bin/vpp")
_INSTALLER = REPOSITORY / "setup" / "vpp.sh"

Asked = Literal["vpp", "linux", "auto"]


@dataclass(frozen=True)
class Choice:
    """A data plane and the reason for it, a phrase for the terminal."""

    dataplane: Dataplane
    reason: str


def choose(asked: Asked, vpp_binary: Path = VPP_BINARY) -> Choice:
    """Decide; changes nothing."""
    if asked == "auto":
        if vpp_binary.exists():
            return Choice("vpp", f"{vpp_binary} is installed")
        return Choice("linux", f"{vpp_binary} is not installed; DATAPLANE=vpp would install it")
    return Choice(asked, "it was asked for")


def ensure_vpp(vpp_binary: Path = VPP_BINARY, installer: Path = _INSTALLER) -> None:
    """Have VPP installed, by the project's installer if need be (its messages go to standard error).

    Raises DataplaneUnavailable where the pinned release is not available.
    """
    if vpp_binary.exists():
        return
    done = subprocess.run([str(installer)], stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False)
    if done.returncode != 0 or not vpp_binary.exists():
        raise DataplaneUnavailable("VPP was asked for, is not installed, and could not be installed")
