"""Benches over REST and on the command line: the required role, refusals, and the audit log."""

from __future__ import annotations

import pytest

from appliance.cli.bench import bench, show_benches
from appliance.cli.errors import CommandError
from appliance.errors import Conflict
from tests.api.conftest import ApiClient, MakeClient
from tests.api.router_in_memory import RouterInMemory
from webui.accounts.models import AuditEntry

_KERNEL = "this router forwards by the Linux kernel: a bench measures VPP"


def test_an_admin_is_told_what_stands_against_it(client_of: MakeClient, viewer: ApiClient) -> None:
    admin = client_of("admin")
    answer = admin("POST", "benches", {"scenario": "imix", "anyway": True})
    assert (answer.status, answer.body["detail"]) == (409, _KERNEL)
    assert admin("POST", "benches/0123456789ab/cancel", {}).status == 404
    assert admin("POST", "benches", {"scenario": "nosuch"}).status == 422
    assert viewer.get("state/benches").body == {"benches": []}
    log = [
        (one.action, one.target, one.result)
        for one in AuditEntry.objects.order_by("pk")
        if "bench." in one.action
    ]
    assert log == [
        ("bench.start", "imix anyway", "failed"),
        ("bench.cancel", "0123456789ab", "failed"),
    ]


def test_an_operator_may_not(client_of: MakeClient) -> None:
    for role in ("operator", "engineer"):
        other = client_of(role)
        assert other("POST", "benches", {"scenario": "fwd"}).status == 403
        assert other("POST", "benches/0123456789ab/cancel", {}).status == 403


def test_the_command_line_says_the_same(router: RouterInMemory) -> None:
    with pytest.raises(Conflict, match=_KERNEL):
        bench(router.client, "root", ["fwd", "--anyway"])
    assert show_benches(router.client, []).data == []
    with pytest.raises(CommandError, match="no bench is running"):
        bench(router.client, "root", ["cancel"])
    with pytest.raises(CommandError, match="there is no bench 0123456789ab"):
        show_benches(router.client, ["0123456789ab"])
