"""Logs over REST, on the page and on the command line: roles, the audit log, secrets, hostile text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from appliance.cli.errors import CommandError
from appliance.cli.log import show_log
from appliance.logs.files import LogFiles
from appliance.state.logs import LogPage, LogQuery
from tests.api.conftest import ApiClient, MakeClient
from tests.api.router_in_memory import PASSWORD, RouterInMemory
from tests.api.test_pages import browser_of, get
from webui.accounts.models import AuditEntry

EVIL = "<script>alert(1)</script>\x1b[2J"
_AT = "2026-11-23T10:00:{:02d}.000+00:00"


def _agent(number: int, level: str = "info", message: str = "hello") -> str:
    return f"time={_AT.format(number)} level={level} logger=appliance.x message={message}"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the router's logs; a test requests it before the router."""
    monkeypatch.setattr(RouterInMemory, "log_source", LogFiles(tmp_path))
    (tmp_path / "agent.log").write_text(f"{_agent(1)}\n{_agent(2, 'error', 'broken')}\n")
    bgpd = f"BGP: neighbor 192.0.2.1 password {PASSWORD}"
    (tmp_path / "bgpd.log").write_text(f"{bgpd}\nBGP: 192.0.2.1 shut down: {EVIL}\n")
    return tmp_path


def _reads() -> list[tuple[str, str]]:
    entries = AuditEntry.objects.filter(action="logs.read").order_by("pk")
    return [(one.username, one.target) for one in entries]


def test_an_operator_reads_follows_and_is_in_the_audit_log(
    folder: Path, client_of: MakeClient, viewer: ApiClient
) -> None:
    operator = client_of("operator")
    page = operator.get("logs?part=agent").body
    assert [line["severity"] for line in page["lines"]] == ["info", "error"]
    assert page["parts"] == ["agent", "bgpd"] and page["oldest"] is None
    with (folder / "agent.log").open("a") as stream:
        stream.write(_agent(3) + "\n")
    following = operator.get(f"logs?part=agent&after={page['newest']}").body
    assert [line["at"] for line in following["lines"]] == [_AT.format(3)]
    assert _reads() == [("operator", "agent")]
    assert viewer.get("logs").status == 403
    assert operator.get("logs?severity=error").body["lines"][0]["text"].endswith("broken")
    assert _reads()[-1] == ("operator", "all")


def test_what_is_read_is_in_the_audit_log_whatever_parameter_asks_for_it(
    folder: Path, client_of: MakeClient
) -> None:
    """`after=none` reads from the beginning, and so does another's cursor or one for another question."""
    operator, other = client_of("operator"), client_of("engineer")
    assert operator.get("logs?after=none").body["lines"] and _reads() == [("operator", "all")]
    page = operator.get("logs?part=agent&limit=1").body
    newest, oldest = page["newest"], page["oldest"]
    assert len(_reads()) == 2 and oldest is not None
    for _ in range(3):
        newest = operator.get(f"logs?part=agent&after={newest}&limit=9").body["newest"]
    assert len(_reads()) == 2, "who follows reads on"
    assert operator.get(f"logs?part=agent&before={oldest}").body["lines"]
    assert _reads()[2:] == [("operator", "agent before a page")]
    other.get(f"logs?part=agent&after={newest}")
    operator.get(f"logs?part=bgpd&after={newest}")
    operator.get(f"logs?part=agent&text=hello&after={newest}")
    assert _reads()[3:] == [("engineer", "agent"), ("operator", "bgpd"), ("operator", "agent")]


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ("part=sshd", "/part"),
        ("part=../x", "/part"),
        ("severity=loud", "/severity"),
        ("limit=501", "/limit"),
        ("after=nonsense", ""),
        ("after=none&before=none", "/before"),
    ],
)
def test_what_is_wrong_is_named(folder: Path, client_of: MakeClient, query: str, pointer: str) -> None:
    answer = client_of("operator").get(f"logs?{query}")
    assert answer.status == 422 and answer.body["errors"][0]["pointer"].endswith(pointer)
    assert _reads() == []


def test_a_router_that_was_told_of_no_logs_says_so(router: RouterInMemory, client_of: MakeClient) -> None:
    answer = client_of("operator").get("logs")
    assert answer.status == 404 and "this agent has no logs" in answer.body["detail"]
    assert "this agent has no logs" in get(browser_of("operator", client_of), "/logs")


def test_passwords_of_this_and_of_earlier_revisions_leave_no_agent(
    folder: Path, router: RouterInMemory, client_of: MakeClient
) -> None:
    engineer = client_of("engineer")
    engineer.put("config/routing/bgp/neighbors/192.0.2.1/password", "another-secret")
    with (folder / "bgpd.log").open("a") as stream:
        stream.write("BGP: keys another-secret and another one: neighbor 192.0.2.9 password of-no-document\n")
    text = client_of("operator").get("logs").body
    shown = str(text)
    for secret in (PASSWORD, "another-secret", "of-no-document"):
        assert secret not in shown
        assert client_of("operator").get(f"logs?text={secret}").body["lines"] == []
    assert "password ********" in shown


def test_the_page_filters_follows_and_escapes(folder: Path, client_of: MakeClient) -> None:
    browser = browser_of("operator", client_of)
    page = get(browser, "/logs")
    assert "&lt;script&gt;alert(1)" in page and EVIL not in page and PASSWORD not in page
    assert "data-log data-newest=" in page and "ui/js/logs.js" in page
    assert _reads() == [("operator", "all")]
    only = get(browser, "/logs?part=agent&severity=error")
    assert "broken" in only and "hello" not in only and "<option selected>error</option>" in only
    assert "/api/v1/logs?part=agent&amp;severity=error&amp;after=" in only
    assert "No line matches" in get(browser, "/logs?text=nowhere")
    assert "must be one of" in get(browser, "/logs?part=sshd")
    get(browser_of("viewer", client_of), "/logs", status=403)
    assert 'href="/logs"' not in get(browser_of("viewer", client_of), "/")
    assert 'href="/logs"' in get(browser, "/")


def test_the_command_line_shows_and_follows(
    folder: Path, router: RouterInMemory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = router.client
    shown = show_log(agent, ["agent", "severity", "error"]).shown
    assert "broken" in shown and "hello" not in shown
    everything = show_log(agent, []).shown
    assert "\x1b" not in everything and PASSWORD not in everything
    assert show_log(agent, ["text", "nowhere"]).shown == "(none)"
    wrongs = ((["severity", "loud"], "severity"), (["agent", "web"], "show log"), (["limit", "x"], "limit"))
    for wrong, reason in wrongs:
        with pytest.raises(CommandError, match=reason):
            show_log(agent, wrong)
    asked: list[LogQuery] = []
    real = agent.logs

    def logs(query: LogQuery) -> LogPage:
        asked.append(query)
        if len(asked) == 3:
            raise KeyboardInterrupt
        with (folder / "agent.log").open("a") as stream:
            stream.write(_agent(len(asked) + 10) + "\n")
        return real(query)

    monkeypatch.setattr(agent, "logs", logs)
    monkeypatch.setattr("appliance.cli.log._EVERY_S", 0.0)
    assert show_log(agent, ["agent", "-f"]).shown == ""
    said = capsys.readouterr().out
    assert said.count("2026-11-23 10:00:11.000") == said.count("2026-11-23 10:00:12.000") == 1
    assert asked[1].after is not None and asked[2].after != asked[1].after


def test_known_words_of_severity_and_time() -> None:
    from appliance.logs.line_text import clean, message_of, of_priority, read

    cases: dict[str, tuple[Any, Any]] = {
        _agent(1, "warning"): (_AT.format(1), "warning"),
        '{"time": "2026-11-23T11:00:01+01:00", "level": "ERROR"}': (_AT.format(1), "error"),
        '{"time": 7': (None, None),
        "2026-11-23 10:00:01,067 INFO spawned: 'web'": (None, "info"),
        "vpp[1]: plugin loaded": (None, None),
        "INFO:     Application startup complete.": (None, "info"),
        "2026/13/40 10:00:01 BGP: odd": (None, None),
    }
    for line, (at, severity) in cases.items():
        found = read(line)
        assert found[1] == severity, line
        assert at is None or found[0] == at, line
    assert read("2026/11/23 10:00:01 [warn] 7#7: slow")[1] == "warning"
    assert [of_priority(one) for one in ("0", "4", "6", "x", None)] == [
        "critical",
        "warning",
        "info",
        None,
        None,
    ]
    says = {
        _agent(1): "logger=appliance.x message=hello",
        '{"time": "x", "level": "info", "message": "login", "user": "nina", "paths": []}': "login user=nina",
        "2026/11/23 10:00:01 BGP: [M59KS-A3ZXZ] hello": "BGP: [M59KS-A3ZXZ] hello",
        "2026/11/23 10:00:01 [warn] 7#7: slow": "7#7: slow",
        "[1]": "[1]",
        "{": "{",
    }
    assert {line: message_of(line) for line in says} == says
    assert clean("a\tb\x00c\u202ed") == "a b\ufffdc\ufffdd"
    assert len(clean("x" * 9000)) < 4100
