"""The platform under the router: the readings, and their judgement."""

from __future__ import annotations

import ctypes
from datetime import UTC, datetime
from pathlib import Path

import pytest

from appliance.config.load import parse_document
from appliance.errors import RouterUnavailable
from appliance.health import platform
from appliance.health.check import Look
from appliance.health.platform import Platform, Validity
from appliance.service_manager import Status
from appliance.upgrade.paths import Paths
from appliance.upgrade.slots import Slots
from lab import certificates

CONFIG = parse_document({"schema_version": 1, "system": {"ntp_servers": ["192.0.2.123", "ntp.example.net"]}})
DAY_S = 86400.0
NOW_S = datetime(2026, 7, 1, tzinfo=UTC).timestamp()


class _Services:
    def __init__(self, *failed: str) -> None:
        self.names, self.asked = failed, 0

    def restart(self, name: str) -> None:
        raise AssertionError(name)

    def status(self, name: str) -> Status:
        raise AssertionError(name)

    def failed(self) -> tuple[str, ...]:
        self.asked += 1
        return self.names


def test_a_program_that_was_given_up_is_an_alarm_and_a_terminal_without_port_is_none() -> None:
    services = _Services("millrace-console@ttyS0.service", "millrace-web.service")
    router = Platform(services)
    (one,) = platform.programs(Look(router.failed(), CONFIG))
    assert (one.kind, one.object, one.severity) == ("program_failed", "millrace-web.service", "major")
    assert "journalctl -b -u millrace-web.service" in one.advice
    router.failed()
    assert services.asked == 1, "systemd is not asked at every look"
    assert list(platform.programs(Look(Platform().failed(), CONFIG))) == []


def test_a_clock_that_nobody_keeps_is_an_alarm_only_where_servers_are_named() -> None:
    (check,) = [check for check in platform.CHECKS if check.name == "clock"]
    assert check.concerns(CONFIG)
    assert not check.concerns(parse_document({"schema_version": 1}))
    assert list(platform.clock(Look(True, CONFIG))) == []
    (one,) = platform.clock(Look(False, CONFIG))
    assert one.evidence == {"servers": "192.0.2.123, ntp.example.net"}
    assert one.patience_s >= 600, "after a boot the servers are asked for some minutes"


def test_the_clock_is_only_read() -> None:
    """STA_UNSYNC, bit 0x40 of the status, says the same as what adjtimex returns."""
    timex = ctypes.create_string_buffer(256)
    ctypes.CDLL(None).adjtimex(timex)
    before_status_bytes = 5 * 8
    status = int.from_bytes(timex.raw[before_status_bytes : before_status_bytes + 4], "little")
    assert platform.clock_is_kept() == (not status & 0x40)


@pytest.mark.parametrize(
    ("begins_days", "ends_days", "severity", "words"),
    [
        (-10, 400, None, ""),
        (-10, 31, None, ""),
        (-10, 29, "warning", "expires on 2026-07-30"),
        (-400, -1, "major", "expired on 2026-06-30"),
        (2, 400, "major", "is valid from 2026-07-03"),
    ],
)
def test_a_certificate_is_told_of_before_it_expires(
    begins_days: int, ends_days: int, severity: str | None, words: str
) -> None:
    validity = Validity(NOW_S + begins_days * DAY_S, NOW_S + ends_days * DAY_S, NOW_S)
    found = list(platform.certificate(Look(validity, CONFIG)))
    assert [one.severity for one in found] == ([severity] if severity else [])
    assert all(words in one.summary for one in found)


def test_the_certificate_is_read_from_its_file(tmp_path: Path) -> None:
    file = tmp_path / "server.pem"
    certificates.make(tmp_path / "ca.pem", file, tmp_path / "server.key")
    validity = Platform(certificate=file).validity()
    assert validity is not None
    assert validity.begins_s <= validity.now_s < validity.ends_s
    assert Platform().validity() is None
    file.write_text("-----BEGIN CERTIFICATE-----")
    with pytest.raises(RouterUnavailable, match=r"server\.pem cannot be read"):
        Platform(certificate=file).validity()
    with pytest.raises(RouterUnavailable):
        Platform(certificate=tmp_path / "none.pem").validity()


def test_a_slot_on_trial_is_told_of_until_it_is_trusted() -> None:
    trusted = Slots("a", "a", None, False, {})
    assert list(platform.trial(Look(trusted, CONFIG))) == []
    (one,) = platform.trial(Look(Slots("b", "a", None, True, {}), CONFIG))
    assert (one.kind, one.object) == ("slot_on_trial", "slot b")
    assert "goes back to slot a" in one.summary
    (two,) = platform.trial(Look(Slots("a", "a", "b", False, {}), CONFIG))
    assert two.summary == "The next boot tries the system in slot b"


def test_a_machine_without_slots_has_none(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/cmdline").write_text("quiet\n")
    assert Platform(upgrade=Paths(tmp_path)).slots() is None
    assert Platform().slots() is None
    assert list(platform.trial(Look(None, CONFIG))) == []
