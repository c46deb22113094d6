"""A plain terminal: a serial line, a virtual console, or lists of keys in tests."""

from __future__ import annotations

import os
import select
import termios
import tty
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Protocol

_CLEAR = "\x1b[H\x1b[2J"
_MAX_LINE = 300


class Gone(Exception):
    """The other end of the terminal has hung up."""


class Terminal(Protocol):
    """What the menu needs."""

    def size(self) -> tuple[int, int]:
        """Columns and rows."""

    def show(self, lines: Sequence[str]) -> None:
        """Clear the screen and write these lines."""

    def say(self, text: str) -> None:
        """One more line."""

    def key(self, timeout_s: float) -> str | None:
        """The next key, or None when there was none in time. Raises Gone."""

    def ask(self, prompt: str, *, hidden: bool = False) -> str | None:
        """A line of text; None when it was cancelled with Escape or Ctrl-C. Raises Gone."""


class PlainTerminal:
    """The real one, on file descriptors."""

    def __init__(self, inward: int = 0, outward: int = 1) -> None:
        self._in, self._out = inward, outward

    @contextmanager
    def raw(self) -> Iterator[None]:
        """Keys come one by one and unechoed; the terminal is restored at the end."""
        before = termios.tcgetattr(self._in)
        tty.setcbreak(self._in)
        now = termios.tcgetattr(self._in)
        # Ctrl-C cancels a question; it does not end the console.
        now[3] &= ~termios.ISIG
        termios.tcsetattr(self._in, termios.TCSADRAIN, now)
        try:
            yield
        finally:
            with suppress(termios.error):
                termios.tcsetattr(self._in, termios.TCSADRAIN, before)

    def size(self) -> tuple[int, int]:
        """A serial line does not know its size: assume 80 by 24."""
        try:
            size = os.get_terminal_size(self._out)
        except OSError:
            return 80, 24
        return (size.columns, size.lines) if size.columns >= 40 and size.lines >= 10 else (80, 24)

    def show(self, lines: Sequence[str]) -> None:
        """Clear and write."""
        self._write(_CLEAR + "".join(f"{line}\n" for line in lines))

    def say(self, text: str) -> None:
        """One more line."""
        self._write(f"{text}\n")

    def key(self, timeout_s: float) -> str | None:
        """One byte as a character."""
        ready, _, _ = select.select([self._in], [], [], timeout_s)
        if not ready:
            return None
        try:
            data = os.read(self._in, 1)
        except OSError as error:
            raise Gone from error
        if not data:
            raise Gone
        return data.decode("ascii", "replace")

    def ask(self, prompt: str, *, hidden: bool = False) -> str | None:
        """A line, with backspace; what is hidden is not shown."""
        self._write(prompt)
        typed = ""
        while True:
            key = self.key(3600.0)
            if key is None or key in "\x1b\x03\x04":
                self._discard()
                self._write("\n")
                return None
            if key in "\r\n":
                self._write("\n")
                return typed
            if key in "\x7f\b":
                if typed:
                    typed = typed[:-1]
                    self._write("" if hidden else "\b \b")
            elif " " <= key <= "~" and len(typed) < _MAX_LINE:
                typed += key
                self._write("" if hidden else key)

    def _discard(self) -> None:
        """The rest of an arrow key's sequence is not a menu key."""
        while self.key(0.02) is not None:
            pass

    def _write(self, text: str) -> None:
        try:
            data = text.encode("ascii", "replace")
            while data:
                data = data[os.write(self._out, data) :]
        except OSError as error:
            raise Gone from error
