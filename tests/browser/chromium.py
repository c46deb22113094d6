"""A headless Chromium under Selenium, with the settings to run as root on a machine without a network."""

from __future__ import annotations

from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

CHROMIUM = Path("/usr/bin/chromium")
CHROMEDRIVER = Path("/usr/bin/chromedriver")

_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
)


def installed() -> bool:
    """Whether Debian's chromium and chromium-driver are there."""
    return CHROMIUM.exists() and CHROMEDRIVER.exists()


def start(
    profile: Path, *, width: int = 1440, height: int = 900, trust_any_certificate: bool = False
) -> webdriver.Chrome:
    """A browser with an empty profile in `profile`; the caller quits it."""
    options = Options()
    options.binary_location = str(CHROMIUM)
    for flag in (*_FLAGS, f"--user-data-dir={profile}", f"--window-size={width},{height}"):
        options.add_argument(flag)
    options.accept_insecure_certs = trust_any_certificate
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=Service(executable_path=str(CHROMEDRIVER)))


def set_viewport(driver: webdriver.Chrome, width: int, height: int) -> None:
    """Make the page exactly so wide and high, narrower than a window can be."""
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
    )


def console(driver: webdriver.Chrome) -> list[str]:
    """The console's messages since the last call, including refusals of the content security policy."""
    entries: list[dict[str, str]] = driver.get_log("browser")  # type: ignore[no-untyped-call]  # selenium has no types here
    return [f"{entry['level']}: {entry['message']}" for entry in entries]
