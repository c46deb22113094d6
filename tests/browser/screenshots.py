"""Pictures of every page, light and dark, wide and narrow: to be looked at by a person.

    python -m tests.browser.screenshots DIRECTORY [--only WORD] [--width 1440] [--theme light]

DIRECTORY/index.html shows them side by side. Takes BASE_URL, USERNAME and PASSWORD from the environment or
from .lab/env. Besides, it prints what a person would miss: pages that scroll sideways, and what the browser's
console complained about.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.common.by import By

from tests.browser.chromium import console, set_viewport, start

PAGES = {
    "dashboard": "/",
    "alarms": "/alarms",
    "alarms-events": "/alarms?kind=events",
    "interfaces": "/interfaces",
    "interface": "/interfaces/lan0",
    "interface-bond": "/interfaces/bond0",
    "interface-memif": "/interfaces/memif0",
    "interface-gre": "/interfaces/gre1",
    "interface-edit": "/edit/interfaces/lan0",
    "interface-add": "/add/interfaces?type=sub_interface",
    "ethernet-add": "/add/interfaces?type=ethernet",
    "loopback-add": "/add/interfaces?type=loopback",
    "bond-add": "/add/interfaces?type=bond",
    "routes": "/routes",
    "route": "/routes?prefix=203.0.113.10",
    "static": "/static-routes",
    "static-route": "/object/routing/static/198.51.100.0~124",
    "static-add": "/add/routing/static",
    "bgp": "/bgp",
    "bgp-neighbor": "/bgp/neighbors/192.0.2.1",
    "bgp-neighbor-down": "/bgp/neighbors/10.40.0.2",
    "bgp-peer-group": "/object/routing/bgp/peer_groups/upstream",
    "bgp-received": "/bgp/routes/received/192.0.2.1",
    "bgp-advertised": "/bgp/routes/advertised/192.0.2.1",
    "bgp-neighbor-edit": "/edit/routing/bgp/neighbors/192.0.2.1",
    "bgp-search": "/bgp/search",
    "bgp-search-found": "/bgp/search?family=ipv4&asn=64507",
    "bgp-search-all": "/bgp/search?family=ipv4&page=2",
    "bgp-search-wrong": "/bgp/search?family=ipv4&asn=abc",
    "bgp-edit": "/edit/routing/bgp",
    "ospf": "/ospf",
    "ospf-interface": "/object/routing/ospf/interfaces/core0",
    "ospf-database": "/ospf/database",
    "ospf-lsa": "/ospf/lsa/router/10.20.0.1/10.20.0.1",
    "neighbors": "/neighbors",
    "forwarding": "/forwarding",
    "memif-add": "/add/interfaces?type=memif",
    "gre-add": "/add/interfaces?type=gre",
    "vrfs": "/vrfs",
    "vrf-add": "/add/vrfs",
    "data-plane": "/edit/dataplane",
    "ospf-edit": "/edit/routing/ospf",
    "bfd": "/bfd",
    "bfd-profile": "/object/routing/bfd/profiles/fast",
    "bfd-profile-add": "/add/routing/bfd/profiles",
    "policies": "/policies",
    "policies-maps": "/policies?kind=route_maps",
    "policies-communities": "/policies?kind=community_lists",
    "policies-paths": "/policies?kind=as_path_lists",
    "prefix-list-edit": "/edit/routing/policy/prefix_lists/bogons",
    "route-map": "/policies/route-maps/from-upstream",
    "route-map-rule": "/edit/routing/policy/route_maps/from-upstream/rules/20",
    "acls": "/acls",
    "acl": "/acls/{acl}",
    "acl-add": "/add/acls",
    "nat": "/nat",
    "nat-static": "/nat?kind=nat_static",
    "nat-pools": "/nat?kind=nat_pools",
    "nat-users": "/nat?kind=nat_users",
    "nat-sessions": "/nat?kind=nat_sessions",
    "nat-edit": "/edit/nat",
    "dhcp-relays": "/dhcp-relays",
    "dhcp-relay": "/object/dhcp_relays/office",
    "dhcp-relay-add": "/add/dhcp_relays",
    "nat-forward-add": "/add/nat/port_forwards",
    "object": "/object/routing/policy/prefix_lists/bogons",
    "control-plane": "/control-plane",
    "acl-rule": "/add/acls/{acl}/rules",
    "configuration": "/configuration",
    "configuration-changes": "/configuration?of=candidate",
    "configuration-json": "/configuration?as=json",
    "compare": "/configuration/compare?from=1&to=running",
    "changes": "/changes",
    "history": "/history",
    "revision": "/history/1",
    "rollback": "/history/1/rollback",
    "tools": "/tools",
    "captures": "/captures",
    "traces": "/traces",
    "trace": "/traces/{trace}",
    "logs": "/logs",
    "system": "/edit/system",
    "users": "/users",
    "tokens": "/tokens",
    "audit": "/audit",
    "upgrade": "/upgrade",
    "not-found": "/interfaces/no-such-interface",
}
FOUND = {"acl": ("/acls", "tbody th a"), "trace": ("/traces", "tbody a")}
"""What a path may name: the last part of the address of the first such link on a page."""
WIDTHS = {1440: 900, 390: 844}
THEMES = ("light", "dark")
_SETTLE_S = 2.5


def environment() -> dict[str, str]:
    """Where the page is and who looks at it."""
    found = {}
    lab = Path(os.environ.get("MILLRACE_LAB_DIR", ".lab")) / "env"
    if lab.exists():
        found = dict(line.split("=", 1) for line in lab.read_text().splitlines() if "=" in line)
    return {
        **found,
        **{key: os.environ[key] for key in ("BASE_URL", "USERNAME", "PASSWORD") if key in os.environ},
    }


def log_in(driver: webdriver.Chrome, base: str, username: str, password: str) -> None:
    """Through the login page."""
    driver.get(base + "/login")
    driver.find_element(By.ID, "username").send_keys(username)
    driver.find_element(By.ID, "password").send_keys(password)
    driver.find_element(By.CSS_SELECTOR, "button[type=submit]").click()


def shoot(driver: webdriver.Chrome, base: str, name: str, path: str, target: Path, width: int) -> None:
    """One page, as high as it is."""
    set_viewport(driver, width, WIDTHS.get(width, 900))
    driver.get(base + path)
    time.sleep(_SETTLE_S if name in ("dashboard", "interface", "interfaces", "acl") else 0.3)
    height = int(driver.execute_script("return Math.ceil(document.documentElement.scrollHeight)"))
    wide = int(driver.execute_script("return document.documentElement.scrollWidth"))
    if wide > width:
        print(f"{target.name}: scrolls sideways, {wide} px in {width} px")
    set_viewport(driver, width, min(max(height, WIDTHS.get(width, 900)), 3000))
    time.sleep(0.2)
    driver.save_screenshot(str(target))
    for entry in console(driver):
        print(f"{target.name}: {entry}")


def found(driver: webdriver.Chrome, base: str) -> dict[str, str]:
    """Values for the names in ``FOUND``; those that this router has."""
    values = {}
    for name, (path, selector) in FOUND.items():
        driver.get(base + path)
        links = driver.find_elements(By.CSS_SELECTOR, selector)
        if links:
            values[name] = (links[0].get_attribute("href") or "").rpartition("/")[2]
    return values


def _named(path: str) -> list[str]:
    return [name for name in FOUND if f"{{{name}}}" in path]


def page_of_all(directory: Path) -> str:
    """HTML of all pictures in the directory, those of one page in a row."""
    rows: dict[str, list[str]] = {}
    for picture in sorted(directory.glob("*.png")):
        rows.setdefault(picture.stem.rsplit("-", 2)[0], []).append(picture.name)
    shown = "".join(
        f"<h2>{name}</h2><p>"
        + "".join(f'<a href="{one}"><img src="{one}" loading="lazy"></a> ' for one in pictures)
        for name, pictures in rows.items()
    )
    style = "img{height:30rem;vertical-align:top;border:1px solid #888}p{white-space:nowrap}"
    return f"<!doctype html><title>Pages</title><style>{style}</style>{shown}"


def main() -> None:
    """Every page in every form."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--width", type=int, choices=sorted(WIDTHS))
    parser.add_argument("--theme", choices=THEMES)
    arguments = parser.parse_args()
    arguments.directory.mkdir(parents=True, exist_ok=True)
    env = environment()
    with tempfile.TemporaryDirectory() as profile:
        driver = start(Path(profile), trust_any_certificate=True)
        try:
            _shoot_all(driver, env, arguments)
        finally:
            driver.quit()
    (arguments.directory / "index.html").write_text(page_of_all(arguments.directory))


def _shoot_all(driver: webdriver.Chrome, env: dict[str, str], arguments: argparse.Namespace) -> None:
    base = env["BASE_URL"].rstrip("/")
    themes = [arguments.theme] if arguments.theme else list(THEMES)
    widths = [arguments.width] if arguments.width else list(WIDTHS)
    wanted = arguments.only.split(",") if arguments.only else list(PAGES)
    pages = {name: path for name, path in PAGES.items() if name in wanted}
    for theme in themes:
        driver.get(base + "/login")
        driver.execute_script("localStorage.setItem('millrace.theme', arguments[0])", theme)
        if theme == themes[0]:
            for width in widths:
                shoot(
                    driver, base, "login", "/login", arguments.directory / f"login-{theme}-{width}.png", width
                )
            log_in(driver, base, env["USERNAME"], env["PASSWORD"])
            values = found(driver, base)
            for name in [name for name, path in pages.items() if set(_named(path)) - set(values)]:
                print(f"{name}: this router has none: left out")
                del pages[name]
            pages = {name: path.format(**values) for name, path in pages.items()}
        for width in widths:
            for name, path in pages.items():
                shoot(driver, base, name, path, arguments.directory / f"{name}-{theme}-{width}.png", width)


if __name__ == "__main__":
    main()
