"""The product files that name a feature: ``python -m tests.feature_files [FEATURE]`` lists them."""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PRODUCT = tuple(ROOT / part / "src" for part in ("appliance", "webui", "frr", "vpp-config"))
CODE = {".py", ".html", ".js", ".css"}
NOT_OURS = {"vendor", "migrations", "__pycache__", "static/vendor"}

WORDS: dict[str, str] = {
    "ethernet": r"\bethernets?\b|(?<!Bond)Ethernet(?!/)",
    "bond": r"\bbonds?\b|\bbond_|_bonds?\b|Bond[A-Z]?",
    "gre": r"\bgre\b|\bgre_|_gre\b|\bGre[A-Z]?|\bGRE\b",
    "ipip": r"\bipip\b|\bipip_|_ipip\b|\bIpip[A-Z]?|\bIPIP\b",
    "sub_interface": r"\bsub[_-]interfaces?\b|SubInterface|VlanLink",
    "loopback": r"[\"'/.]loopback\b|Loopback",
    "memif": r"\bmemif\b|\bmemif_|\bMemif",
    "acl": r"\bacls?\b|\bacl_|_acls?\b|\bAcls?[A-Z]?|_ACLS?\b|\bACL",
    "dhcp_relay": r"\bdhcp[_-]relays?\b|\bDhcpRelay|\bDHCP[ _]relay|\bDHCP_RELAY",
    "nat": r"\bnat\b|\bnat_|_nat\b|\bNat(?=[A-Z]|\b)|\bNAT",
    "bgp": r"\bbgp\b|_bgp\b|\bbgp_|\bBgp|\bBGP\b",
    "bfd": r"\bbfd\b|_bfd\b|\bbfd_|\bBfd|\bBFD",
    "vrf": r"\bvrfs?\b|\bvrf_|_vrfs?\b|Vrf(?=[A-Z]|\b)|\bVRF",
    "ospf": r"\bospf\b|_ospf\b|\bospf_|\bOspf|\bOSPF",
}
"""The words for each feature in code and in texts. A new feature needs a line."""


@cache
def product_files() -> dict[str, str]:
    """Text of each product file, by its path from the repository's root."""
    return {
        str(path.relative_to(ROOT)): path.read_text()
        for source in PRODUCT
        for path in sorted(source.rglob("*"))
        if path.suffix in CODE and path.is_file() and not NOT_OURS & set(path.parts)
    }


def naming(feature: str) -> list[str]:
    """Paths of the product files that name the feature, except those in its own folders."""
    word = re.compile(WORDS[feature])
    own = (f"/features/{feature}/", f"/protocols/{feature}/")
    return [
        path
        for path, text in product_files().items()
        if word.search(text) and not any(folder in path for folder in own)
    ]


if __name__ == "__main__":
    for name in sys.argv[1:] or WORDS:
        files = naming(name)
        print(f"{name}: {len(files)}")
        print("".join(f"  {path}\n" for path in files), end="")
