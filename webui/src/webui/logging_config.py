"""The destination and form of log lines: one JSON object each, so that no value can begin a line of its
own.
"""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Any


class JsonLines(logging.Formatter):
    """A log record as one line of JSON (escaped control characters included)."""

    process: str | None = None
    """The process of the web half, unless it is the one that serves."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        entry: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if self.process is not None:
            entry["process"] = self.process
        if fields := getattr(record, "fields", None):
            entry |= fields
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=True, default=str)


def logging_config(syslog: str | None) -> dict[str, Any]:
    """Django's LOGGING: all to standard error; the audit log also to `syslog` (socket path or host:port)."""
    handlers: dict[str, Any] = {
        "stderr": {"class": "logging.StreamHandler", "formatter": "json"},
    }
    audit = ["stderr"]
    if syslog:
        host, _, port = syslog.rpartition(":")
        address: str | tuple[str, int] = (host, int(port)) if host and port.isdecimal() else syslog
        handlers["syslog"] = {
            "class": "logging.handlers.SysLogHandler",
            "address": address,
            "facility": "authpriv",
            "formatter": "json",
        }
        audit = ["stderr", "syslog"]
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": "webui.logging_config.JsonLines"}},
        "handlers": handlers,
        "root": {"handlers": ["stderr"], "level": "INFO"},
        "loggers": {
            "webui.audit": {"handlers": audit, "level": "INFO", "propagate": False},
            "django.request": {"level": "ERROR"},
            "django.security": {"level": "WARNING"},
            "httpx": {"level": "WARNING"},
            "axes": {"level": "WARNING"},
            "celery": {"level": "WARNING"},
        },
    }
