"""No value can begin a log line of its own."""

from __future__ import annotations

import json
import logging

from webui.logging_config import JsonLines, logging_config


def test_a_record_is_one_line_whatever_is_in_it() -> None:
    record = logging.LogRecord(
        "x", logging.INFO, "f", 1, "login of %s", ("eve\nroot logged in\x1b[2J",), None
    )
    record.fields = {"address": "a\r\nb"}
    line = JsonLines().format(record)
    assert "\n" not in line and "\r" not in line and "\x1b" not in line
    entry = json.loads(line)
    assert (entry["level"], entry["address"]) == ("info", "a\r\nb")


def test_the_audit_log_can_go_to_syslog() -> None:
    config = logging_config("192.0.2.5:514")
    assert config["handlers"]["syslog"]["address"] == ("192.0.2.5", 514)
    assert "syslog" in config["loggers"]["webui.audit"]["handlers"]
    assert logging_config("/dev/log")["handlers"]["syslog"]["address"] == "/dev/log"
