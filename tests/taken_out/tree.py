"""A copy of the product's sources without a feature: its own files, and its lines in lists, are gone."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.feature_files import PRODUCT, ROOT, WORDS, product_files

HERE = Path(__file__).parent
Json = dict[str, Any]


@dataclass(frozen=True)
class Parts:
    """What of the product is a feature's own, and what else names it."""

    own: tuple[str, ...]
    """Files and folders named after the feature."""
    lines: Mapping[str, tuple[str, ...]]
    """Every other file that names it, and the lines that do."""


def parts_of(feature: str) -> Parts:
    """What there is to take out. ``nat.py``, ``nat_rules.py``, ``bonds.py``, ``bond/``: names of its own."""
    own_name = re.compile(rf"{feature}s?(_\w+)?")
    word = re.compile(WORDS[feature])
    own: dict[str, None] = {}
    lines: dict[str, tuple[str, ...]] = {}
    for path, text in product_files().items():
        names = path.split("/")
        named = next((at for at, name in enumerate(names) if own_name.fullmatch(name.split(".")[0])), None)
        if named is not None:
            own["/".join(names[: named + 1])] = None
        elif found := tuple(line.strip() for line in text.splitlines() if word.search(line)):
            lines[path] = found
    return Parts(tuple(own), lines)


def copy_without(feature: str, own: Iterable[str], lists: Iterable[str], tree: Path) -> None:
    """The product in ``tree``, without these files of the feature and without its lines in these lists."""
    for source in PRODUCT:
        # Compiled files come along: what is the same is not compiled again.
        shutil.copytree(source, tree / source.relative_to(ROOT), ignore=shutil.ignore_patterns("vendor"))
    for name in own:
        path = tree / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    word = re.compile(WORDS[feature])
    for name in lists:
        path = tree / name
        kept = [line for line in path.read_text().splitlines(keepends=True) if not word.search(line)]
        path.write_text("".join(kept))


ON_VPP_ALONE: dict[str, Json] = {
    "dhcp_relay": {"dhcp_relays": {"office": {"server": "192.0.2.1", "source_address": "192.0.2.2"}}}
}
"""Sections that the linux data plane refuses: no document has them but that of their feature."""


def documents(feature: str) -> dict[str, Json]:
    """A document ``having`` the feature, an interface or a section, and the same one ``without`` it."""
    router = json.loads((HERE / "router.json").read_text())
    having = {**router, **ON_VPP_ALONE.get(feature, {})}
    if feature in ON_VPP_ALONE:
        return {"having": having, "without": router}
    if feature == "bfd":
        return {"having": having, "without": without_bfd(router)}
    without = {name: section for name, section in having.items() if name != feature}
    without["interfaces"] = {
        name: settings for name, settings in having["interfaces"].items() if settings["type"] != feature
    }
    if "nat" in without:
        inside = [name for name in without["nat"]["inside"] if name in without["interfaces"]]
        without["nat"] = {**without["nat"], "inside": inside}
    return {"having": having, "without": without}


def without_bfd(router: Json) -> Json:
    """The same, monitored by nothing: BFD is also a setting of other protocols."""
    plain: Json = json.loads(json.dumps(router))
    routing = plain["routing"]
    del routing["bfd"]
    hops = [hop for route in routing["static"].values() for hop in route["next_hops"]]
    for settings in (*routing["bgp"]["neighbors"].values(), *routing["ospf"]["interfaces"].values(), *hops):
        settings.pop("bfd_profile", None)
    return plain


def built(tree: Path, asked: Mapping[str, Json]) -> Json:
    """What ``built.py`` says of the product in the tree."""
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(str(tree / source.relative_to(ROOT)) for source in PRODUCT),
        "DJANGO_SETTINGS_MODULE": "webui.settings",
    }
    done = subprocess.run(
        [sys.executable, str(HERE / "built.py"), str(tree)],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=environment,
        cwd=tree,
    )
    assert done.returncode == 0, done.stderr
    answer: Json = json.loads(done.stdout)
    return answer
