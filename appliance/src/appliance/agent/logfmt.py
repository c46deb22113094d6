"""Log lines as logfmt: one event a line, whatever a message contains."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime


class LogfmtFormatter(logging.Formatter):
    """``time=… level=… logger=… message="…"``; values that could end a line or a field are quoted."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        fields = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        return " ".join(f"{name}={_quoted(value)}" for name, value in fields.items())


def _quoted(value: str) -> str:
    plain = value and all(character.isalnum() or character in "-._:+/" for character in value)
    return value if plain else json.dumps(value)


def configure(level: int = logging.INFO) -> None:
    """Log to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LogfmtFormatter())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for chatty in ("aiohttp.access", "httpx"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
