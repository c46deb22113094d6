"""Logs of the router's programs: one contract, for files as in the lab and for a real journald."""

from __future__ import annotations

import ctypes
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

import pytest

from appliance.errors import ValidationFailed
from appliance.logs import files as log_files
from appliance.logs.files import LogFiles
from appliance.logs.journal import Journal
from appliance.logs.reader import Logs
from appliance.logs.redaction import Redaction
from appliance.logs.source import LogSource
from appliance.state.logs import LogPage, LogQuery
from tests.live_lab import wait_until
from webui.processes.child import process_name

JOURNALD = Path("/lib/systemd/systemd-journald")
_UNITS = {"agent": "millrace-agent.service", "web": "millrace-web.service", "bgpd": "frr.service"}


class Written(Protocol):
    """A source, and a way to log."""

    @property
    def source(self) -> LogSource:
        """What is read."""
        ...

    def log(self, part: str, *texts: str) -> None:
        """These lines of a part, one after the other; returns once a reader sees them."""


class _Files:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.source = LogFiles(folder)

    def log(self, part: str, *texts: str) -> None:
        with (self.folder / f"{part}.log").open("a") as stream:
            stream.writelines(f"{text}\n" for text in texts)


class _Journal:
    """A namespace of journald: a process of its own, with files of its own."""

    def __init__(self, name: str) -> None:
        self.name, self.source = name, Journal(name)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._said = 0

    def connect(self) -> None:
        self._socket.connect(f"/run/systemd/journal.{self.name}/socket")

    def log(self, part: str, *texts: str) -> None:
        for text in texts:
            # As systemd says it of a unit that is not there: a test has no unit of its own.
            fields = {"MESSAGE": text, "PRIORITY": "6", "OBJECT_SYSTEMD_UNIT": _UNITS[part]}
            if part == "bgpd":
                fields["FRR_DAEMON"] = "bgpd"
            self._socket.send("".join(f"{name}={value}\n" for name, value in fields.items()).encode())
            self._said += 1
        end = time.monotonic() + 20
        while time.monotonic() < end:
            if self._written() >= self._said:
                return
            time.sleep(0.05)
        raise AssertionError("journald did not write")

    def _written(self) -> int:
        argv = [
            "journalctl",
            f"--namespace={self.name}",
            "-q",
            "-o",
            "cat",
            "OBJECT_SYSTEMD_UNIT=frr.service",
        ]
        for unit in set(_UNITS.values()):
            argv += ["+", f"OBJECT_SYSTEMD_UNIT={unit}"]
        return subprocess.run(argv, capture_output=True, check=True).stdout.count(b"\n")


def _journal() -> Iterator[_Journal]:
    if os.getuid() or not JOURNALD.exists() or not shutil.which("journalctl"):
        pytest.skip("a journald of its own needs root and systemd")
    name = f"opj{os.getpid()}"
    run, kept = Path(f"/run/systemd/journal.{name}"), Path("/var/log/journal")
    had_kept = kept.exists()
    Path("/run/systemd").mkdir(exist_ok=True)
    process = subprocess.Popen([str(JOURNALD), name], stderr=subprocess.PIPE)
    try:
        end = time.monotonic() + 10
        while not (run / "socket").exists():
            if process.poll() is not None or time.monotonic() > end:
                pytest.skip(f"journald does not run here: {process.stderr}")
            time.sleep(0.05)
        journal = _Journal(name)
        journal.connect()
        yield journal
    finally:
        process.terminate()
        process.wait(10)
        assert process.stderr is not None
        process.stderr.close()
        shutil.rmtree(run, ignore_errors=True)
        for folder in (*kept.glob(f"*.{name}"), *Path("/run/log/journal").glob(f"*.{name}")):
            shutil.rmtree(folder)
        if not had_kept and kept.exists():
            kept.rmdir()


@pytest.fixture
def journal() -> Iterator[_Journal]:
    yield from _journal()


@pytest.fixture(params=["files", "journal"])
def written(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Written]:
    if request.param == "files":
        yield _Files(tmp_path)
    else:
        yield from _journal()


def _logs(written: Written, secrets: Sequence[str] = ()) -> Logs:
    return Logs(written.source, Redaction(lambda: secrets))


def _texts(page: LogPage) -> list[str]:
    return [line.text for line in page.lines]


def _agent(number: int, level: str = "info", message: str = "") -> str:
    at = f"2026-11-23T10:00:{number:02d}.000+00:00"
    return f"time={at} level={level} logger=appliance.x message={message or f'number-{number}'}"


def _web(number: int, level: str = "info") -> str:
    at = f"2026-11-23T10:00:{number:02d}.500+00:00"
    return f'{{"time": "{at}", "level": "{level}", "message": "web {number}"}}'


def test_the_newest_lines_of_all_parts_in_their_order(written: Written) -> None:
    for number in range(3):
        written.log("agent", _agent(number))
        written.log("web", _web(number))
    page = _logs(written).page(LogQuery(limit=4))
    assert [line.part for line in page.lines] == ["agent", "web", "agent", "web"]
    assert _texts(page)[-2:] == [_agent(2), _web(2)]
    assert page.lines[0].at == "2026-11-23T10:00:01.000+00:00"
    assert {line.severity for line in page.lines} == {"info"}
    assert {"agent", "web"} <= set(page.parts) and page.oldest is not None


def test_older_pages_until_the_beginning_have_each_line_once(written: Written) -> None:
    lines = [_agent(number) for number in range(25)]
    for number, line in enumerate(lines):
        written.log("agent", line)
        if number % 2:
            written.log("web", _web(number))
    logs = _logs(written)
    seen: list[str] = []
    page = logs.page(LogQuery(limit=7))
    while True:
        seen = [*_texts(page), *seen]
        if page.oldest is None:
            break
        page = logs.page(LogQuery(limit=7, before=page.oldest))
    assert [text for text in seen if text.startswith("time=")] == lines
    assert len(seen) == 25 + 12


def test_what_comes_is_followed_without_a_line_twice_or_missed(written: Written) -> None:
    logs = _logs(written)
    written.log("agent", _agent(0))
    page = logs.page(LogQuery())
    assert _texts(page) == [_agent(0)]
    assert _texts(logs.page(LogQuery(after=page.newest))) == []
    written.log("agent", *(_agent(number) for number in range(1, 10)))
    written.log("web", _web(9))
    seen = []
    while True:
        page = logs.page(LogQuery(after=page.newest, limit=4))
        seen += _texts(page)
        if not page.more:
            break
    assert seen == [*(_agent(number) for number in range(1, 10)), _web(9)]


def test_following_begins_before_the_first_line(written: Written) -> None:
    logs = _logs(written)
    page = logs.page(LogQuery())
    assert page.lines == () and page.oldest is None
    written.log("agent", _agent(1))
    assert _texts(logs.page(LogQuery(after=page.newest))) == [_agent(1)]


def test_by_part_severity_and_text(written: Written) -> None:
    written.log("agent", _agent(1), _agent(2, "warning", "disk-is-low"), _agent(3, "error", "disk-is-full"))
    written.log("web", _web(4, "error"))
    logs = _logs(written)
    assert _texts(logs.page(LogQuery(part="web"))) == [_web(4, "error")]
    assert len(logs.page(LogQuery(severity="warning")).lines) == 3
    assert len(logs.page(LogQuery(severity="error", part="agent")).lines) == 1
    assert len(logs.page(LogQuery(text="DISK-is")).lines) == 2
    assert logs.page(LogQuery(text="nowhere")).lines == ()


def test_a_daemon_of_frr_is_a_part_of_its_own(written: Written) -> None:
    written.log("bgpd", "2026/11/23 10:00:00 BGP: [M59KS-A3ZXZ] rcvd End-of-RIB from 192.0.2.1")
    (line,) = _logs(written).page(LogQuery(part="bgpd")).lines
    assert line.part == "bgpd" and "End-of-RIB" in line.text and line.at is not None


def test_secrets_are_struck_out_and_cannot_be_searched_for(written: Written) -> None:
    written.log("bgpd", "BGP: neighbor 192.0.2.1 password s3cret-word and s3cret-word again")
    logs = _logs(written, ["s3cret-word"])
    (line,) = logs.page(LogQuery()).lines
    assert line.text == "BGP: neighbor 192.0.2.1 password ******** and ******** again"
    assert logs.page(LogQuery(text="s3cret")).lines == ()


def test_text_that_a_terminal_would_obey_is_made_harmless(written: Written) -> None:
    written.log("bgpd", "BGP: shutdown: \x1b[2J<script>alert(1)</script>\x07")
    (line,) = _logs(written).page(LogQuery()).lines
    assert "\x1b" not in line.text and "\x07" not in line.text and "<script>" in line.text


@pytest.mark.parametrize("cursor", ["nonsense", "agent=1", "nosuch=1.1", "s=zz", "../../etc/passwd="])
def test_a_cursor_of_something_else_is_refused(written: Written, cursor: str) -> None:
    with pytest.raises((ValidationFailed, ValueError)):
        _logs(written).page(LogQuery(after=cursor))
    with pytest.raises((ValidationFailed, ValueError)):
        _logs(written).page(LogQuery(before=cursor))


def test_a_part_that_is_none_is_refused(written: Written) -> None:
    written.log("agent", _agent(1))
    with pytest.raises(ValidationFailed, match="must be one of"):
        _logs(written).page(LogQuery(part="sshd"))


# Of files alone.


def test_a_log_that_is_rotated_is_followed_into_the_next_file(tmp_path: Path) -> None:
    written = _Files(tmp_path)
    written.log("agent", _agent(1))
    logs = _logs(written)
    page = logs.page(LogQuery())
    written.log("agent", _agent(2))
    (tmp_path / "agent.log").rename(tmp_path / "agent.log.1")
    written.log("agent", _agent(3))
    seen = []
    while True:
        page = logs.page(LogQuery(after=page.newest))
        seen += _texts(page)
        if not page.more:
            break
    assert seen == [_agent(2), _agent(3)]
    backwards = logs.page(LogQuery(limit=2))
    assert backwards.oldest is not None
    older = logs.page(LogQuery(before=backwards.oldest))
    assert [*_texts(older), *_texts(backwards)][-3:] == [_agent(1), _agent(2), _agent(3)]


def test_a_log_that_was_emptied_or_rotated_twice_goes_on(tmp_path: Path) -> None:
    written = _Files(tmp_path)
    written.log("agent", _agent(1), _agent(2))
    logs = _logs(written)
    page = logs.page(LogQuery())
    (tmp_path / "agent.log").write_text("")
    written.log("agent", _agent(3))
    assert _texts(logs.page(LogQuery(after=page.newest))) == [_agent(3)]
    for number in (4, 5):
        (tmp_path / "agent.log").rename(tmp_path / "agent.log.1")
        written.log("agent", _agent(number))
    assert _agent(5) in _texts(logs.page(LogQuery(after=page.newest)))


def test_a_huge_log_costs_a_block_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "vpp.log"
    with path.open("wb") as stream:
        stream.write(b"vpp[1]: the first\n")
        stream.truncate(20 * 2**30)
        stream.seek(0, os.SEEK_END)
        stream.write(b"\nvpp[1]: the last\n")
    read: list[int] = []
    real = log_files._bytes

    def counted(path: Path, offset: int, size: int) -> bytes:
        data = real(path, offset, size)
        read.append(len(data))
        return data

    monkeypatch.setattr(log_files, "_bytes", counted)
    page = _logs(_Files(tmp_path)).page(LogQuery(part="vpp"))
    assert page.lines[-1].text == "vpp[1]: the last"
    assert page.oldest is not None and "not searched" in page.note
    assert sum(read) <= log_files.BLOCK_BYTES


def test_one_line_without_an_end_is_passed(tmp_path: Path) -> None:
    written = _Files(tmp_path)
    (tmp_path / "web.log").write_text("x" * (3 * log_files.BLOCK_BYTES) + "\n" + _web(1) + "\n")
    logs, pages = _logs(written), 0
    page = logs.page(LogQuery())
    assert _texts(page)[-1] == _web(1)
    while page.oldest is not None:
        page = logs.page(LogQuery(before=page.oldest))
        assert all(len(text) < 5000 for text in _texts(page))
        pages += 1
        assert pages < 10
    start = logs.page(LogQuery(after="none"))
    while start.more:
        start = logs.page(LogQuery(after=start.newest))
        pages += 1
        assert pages < 20
    assert _texts(start)[-1] == _web(1)


def test_a_half_written_line_waits_for_its_end(tmp_path: Path) -> None:
    written = _Files(tmp_path)
    written.log("agent", _agent(1))
    logs = _logs(written)
    page = logs.page(LogQuery())
    with (tmp_path / "agent.log").open("a") as stream:
        stream.write(_agent(2)[:20])
    page = logs.page(LogQuery(after=page.newest))
    assert page.lines == ()
    with (tmp_path / "agent.log").open("a") as stream:
        stream.write(_agent(2)[20:] + "\n")
    assert _texts(logs.page(LogQuery(after=page.newest))) == [_agent(2)]


def test_only_logs_of_parts_are_read(tmp_path: Path) -> None:
    written = _Files(tmp_path)
    written.log("agent", _agent(1))
    (tmp_path / "wan-peer.log").write_text("of the lab\n")
    (tmp_path / "web.log").symlink_to("/etc/passwd")
    page = _logs(written).page(LogQuery(part="agent"))
    assert "wan-peer" not in page.parts
    with pytest.raises(Exception, match=r"web\.log cannot be read"):
        _logs(written).page(LogQuery(part="web"))


def _everything(journal: _Journal) -> str:
    argv = ["journalctl", f"--namespace={journal.name}", "-q", "-o", "json"]
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout


def test_the_processes_of_the_web_half_are_parts_of_their_own(journal: _Journal) -> None:
    """One unit, whose children write into the stream that they have from their parent."""
    stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    stream.connect(f"/run/systemd/journal.{journal.name}/stdout")
    # systemd's description of a unit's output, then its lines.
    stream.sendall(b"python\nmillrace-web.service\n6\n1\n0\n0\n0\nfrom the parent\n")
    children, reading, writing = [], *os.pipe()
    for name in (b"server", b"worker", b"scheduler"):
        pid = os.fork()
        if pid == 0:
            os.close(writing)
            ctypes.CDLL(None).prctl(15, process_name(name.decode()).encode())
            stream.sendall(b"from the " + name + b"\n")
            # journald identifies the writer while it is alive.
            os.read(reading, 1)
            os._exit(0)
        children.append(pid)
    logs = Logs(journal.source, Redaction(lambda: ()))
    wanted = {
        "worker": ["from the worker"],
        "scheduler": ["from the scheduler"],
        "web": ["from the parent", "from the server"],
    }
    try:
        for part, texts in wanted.items():
            wait_until(
                lambda part=part, texts=texts: sorted(_texts(logs.page(LogQuery(part=part)))) == texts,  # type: ignore[misc]
                timeout_s=60,
                what=f"lines of the {part}",
                instead=lambda: _everything(journal),
            )
    finally:
        os.close(writing)
        for pid in children:
            os.waitpid(pid, 0)
        os.close(reading)
        stream.close()
    everything = {line.text: line.part for line in logs.page(LogQuery()).lines}
    assert everything["from the worker"] == "worker" and everything["from the server"] == "web"
