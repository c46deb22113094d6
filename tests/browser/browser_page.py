"""A page in Chromium, in the words of a test: open, click, fill, wait until something shows."""

from __future__ import annotations

from selenium import webdriver
from selenium.common.exceptions import (
    ElementClickInterceptedException,
    NoAlertPresentException,
    StaleElementReferenceException,
    WebDriverException,
)
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from tests.browser.chromium import console
from tests.live_lab import wait_until

_PATIENCE_S = 15.0


class BrowserPage:
    """A user's actions in one tab. Every wait that fails says what did not appear."""

    def __init__(self, driver: webdriver.Chrome, base: str) -> None:
        self.driver, self.base = driver, base.rstrip("/")

    def open(self, path: str) -> None:
        """Go to an address of the router."""
        self.driver.get(self.base + path)

    @property
    def path(self) -> str:
        """Where the tab is, without host."""
        return self.driver.current_url.removeprefix(self.base)

    def find(self, css: str) -> WebElement:
        """The first element; waits for it."""
        wait_until(lambda: self.all(css), timeout_s=_PATIENCE_S, what=f"{css} on {self.driver.current_url}")
        return self.all(css)[0]

    def all(self, css: str) -> list[WebElement]:
        """Every element there is now."""
        return self.driver.find_elements(By.CSS_SELECTOR, css)

    def text(self, css: str) -> str:
        """The element's visible text; empty while there is none."""
        try:
            return self.driver.find_element(By.CSS_SELECTOR, css).text
        except WebDriverException:
            return ""

    def click(self, css: str) -> None:
        """Click where the user would, after scrolling there; again where the page moved in the meantime."""
        wait_until(lambda: self._clicked(css), timeout_s=_PATIENCE_S, what=f"{css} can be clicked")

    def _clicked(self, css: str) -> bool:
        try:
            element = self._in_view(css)
            element.click()
        except (ElementClickInterceptedException, StaleElementReferenceException):
            return False
        return True

    def click_slowly(self, css: str, pressed_s: float) -> None:
        """Press the pointer, and release it after a while; again where the element was replaced before."""
        wait_until(
            lambda: self._clicked_slowly(css, pressed_s), timeout_s=_PATIENCE_S, what=f"{css} can be pressed"
        )

    def _clicked_slowly(self, css: str, pressed_s: float) -> bool:
        try:
            element = self._in_view(css)
            ActionChains(self.driver).click_and_hold(element).pause(pressed_s).release().perform()
        except StaleElementReferenceException:
            return False
        return True

    def _in_view(self, css: str) -> WebElement:
        element = self.find(css)
        self.driver.execute_script(
            "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element
        )
        return element

    def accept(self) -> None:
        """Confirm the browser's dialog; waits for it."""
        wait_until(self._accepted, timeout_s=_PATIENCE_S, what="the browser asks something")

    def _accepted(self) -> bool:
        try:
            self.driver.switch_to.alert.accept()
        except NoAlertPresentException:
            return False
        return True

    def fill(self, css: str, text: str) -> None:
        """Replace what stands in a field."""
        field = self.find(css)
        field.clear()
        field.send_keys(text)

    def field(self, pointer: str) -> str:
        """The selector of a form's input by its place in the object, such as ``/next_hops/0/address``."""
        return f'[name="{pointer}"]'

    def choose(self, css: str, value: str) -> None:
        """Choose an option of a select by its value."""
        self.find(f'{css} option[value="{value}"]').click()

    def submit(self, css: str) -> None:
        """Click a button that leaves the page, and wait until it was left."""
        before = self.find("html")
        self.click(css)
        wait_until(lambda: _is_gone(before), timeout_s=_PATIENCE_S * 2, what=f"the answer to {css}")
        self.find("body")

    def press(self, *keys: str) -> None:
        """Keys, one after the other, wherever the focus is."""
        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()

    def press_with_control(self, key: str) -> None:
        """A key with Control held."""
        ActionChains(self.driver).key_down(Keys.CONTROL).send_keys(key).key_up(Keys.CONTROL).perform()

    def sees(self, text: str, css: str = "body", timeout_s: float = _PATIENCE_S) -> None:
        """Wait until the text is in the element."""
        wait_until(
            lambda: text in self.text(css),
            timeout_s=timeout_s,
            what=f"{text!r} in {css} on {self.driver.current_url}: {self.text(css)[:2000]!r}",
        )

    def arrives(self, path: str) -> None:
        """Wait until the tab is at the address, and its scripts have run."""
        wait_until(lambda: self.path == path, timeout_s=_PATIENCE_S, what=f"{path}; here is {self.path}")
        ready = "return document.readyState === 'complete'"
        wait_until(lambda: self.driver.execute_script(ready), timeout_s=_PATIENCE_S, what=f"{path} loads")

    def log_in(self, username: str, password: str) -> None:
        """Through the login page, as from a new browser."""
        self.driver.delete_all_cookies()
        self.open("/login")
        self.fill("#username", username)
        self.fill("#password", password)
        self.submit("button[type=submit]")

    def complaints(self) -> list[str]:
        """Errors of the console, including refusals of the content security policy."""
        return [entry for entry in console(self.driver) if entry.startswith("SEVERE")]


def _is_gone(element: WebElement) -> bool:
    try:
        element.is_enabled()
    except WebDriverException:
        # Stale, or in the moment of the change an error of the inspector.
        return True
    return False
