"""Nothing in the database grows without bound: every table has a kind, and every kind is reduced."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from tests.api.conftest import ApiClient
from webui.accounts import audit, bounded_changes
from webui.accounts.models import AuditEntry
from webui.changes import closing
from webui.changes.models import ChangeSet
from webui.storage.clean_up import clean_up
from webui.storage.kind import Kind
from webui.storage.registry import KINDS


def kind(name: str) -> Kind:
    return next(one for one in KINDS if one.name == name)


def test_every_model_has_a_kind() -> None:
    """The author of a model declares how much of it is kept: its row in its app's `retention`."""
    named = {one.model() for one in KINDS}
    assert {model._meta.label for model in apps.get_models(include_auto_created=False)} == {
        model._meta.label for model in named
    }


def test_every_kind_is_bounded() -> None:
    for one in KINDS:
        assert one.bounded_by or (one.rows is not None and one.most_rows), one.name
        assert one.most_bytes is None or one.payload, one.name
    assert max(Counter(one.name for one in KINDS).values()) == 1


def test_large_columns_have_a_quota_in_bytes() -> None:
    from django.db.models import JSONField, TextField

    # Limited elsewhere: the documents of open change sets, whose number is limited too.
    exempt = {"changes.ChangeSet.base_document", "changes.ChangeSet.document"}
    payload = {f"{one.model()._meta.label}.{name}" for one in KINDS if one.most_bytes for name in one.payload}
    for one in KINDS:
        if one.bounded_by:
            continue
        for field in one.model()._meta.get_fields():
            label = f"{one.model()._meta.label}.{field.name}"
            if isinstance(field, (JSONField, TextField)) and label not in exempt | payload:
                assert one.model()._meta.label == "axes.AccessAttempt", label


def _entries(number: int, action: str = "config.commit", result: str = "done", size: int = 1) -> list[int]:
    rows = [
        AuditEntry(
            username="anna", address="192.0.2.1", via="page", action=action, result=result, detail="x" * size
        )
        for _ in range(number)
    ]
    return [one.pk for one in AuditEntry.objects.bulk_create(rows)]


def _small(name: str, **quota: Any) -> Kind:
    from dataclasses import replace

    return replace(kind(name), **quota)


def test_the_oldest_entries_go_first_and_guesses_push_nothing_out(db: None) -> None:
    kept = _entries(40)
    guesses = _entries(60, "login", "failed")
    assert _small("failed logins in the audit log", most_rows=10).reduce(timezone.now()) == 50
    assert _small("audit log", most_rows=30).reduce(timezone.now()) == 10
    left = set(AuditEntry.objects.values_list("pk", flat=True))
    assert left == {*kept[10:], *guesses[50:]}


def test_a_quota_in_bytes(db: None) -> None:
    keys = _entries(700, size=1000)
    # Two batches: 1000 bytes of detail and 2 of an empty list each.
    assert _small("audit log", most_bytes=1002 * 100).reduce(timezone.now()) == 600
    assert set(AuditEntry.objects.values_list("pk", flat=True)) == set(keys[600:])


def test_old_entries_go_and_nothing_else_can_be_deleted(db: None) -> None:
    old, young = _entries(2), _entries(2)
    with connection.cursor() as cursor:
        # The guard refuses an update as well: an old row can only be made so.
        cursor.execute(
            "INSERT INTO accounts_auditentry "
            "(time, username, address, via, action, target, changes, result, detail) "
            "VALUES (%s, 'b', '', '', 'x', '', '[]', 'done', '')",
            [timezone.now() - timedelta(days=366)],
        )
    assert kind("audit log").reduce(timezone.now()) == 1
    assert set(AuditEntry.objects.values_list("pk", flat=True)) == {*old, *young}
    for statement in ("DELETE FROM accounts_auditentry", "UPDATE accounts_auditentry SET result = 'x'"):
        with (
            pytest.raises(DatabaseError, match="append-only"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(statement)


def test_one_entry_is_bounded_in_bytes() -> None:
    import json

    from appliance.config.diff import Change

    many = [Change("replace", f"/x/{n}", "a" * 10_000, "b" * 10_000) for n in range(2000)]
    listed = bounded_changes.bounded(many)
    assert len(listed) == bounded_changes.MAX_CHANGES
    assert len(json.dumps(listed)) < bounded_changes.MAX_CHARACTERS + 200 * bounded_changes.MAX_CHANGES
    assert listed[0]["before"] == "a" * 10_000 and "see the revision" in listed[-1]["after"]


def _open(engineer: ApiClient) -> ChangeSet:
    number = engineer.post("changes", {"title": "x"}).body["id"]
    engineer.put(f"config/interfaces/lan0/description?change={number}", "text")
    return ChangeSet.objects.get(pk=number)


@pytest.mark.parametrize("how", ["commit", "discard"])
def test_a_closed_change_set_keeps_its_changes_and_no_documents(how: str, engineer: ApiClient) -> None:
    change = _open(engineer)
    assert change.document and change.base_document
    before = engineer.get(f"changes/{change.pk}/diff").body["diff"]
    if how == "commit":
        assert engineer.post(f"changes/{change.pk}/commit").status == 200
    else:
        assert engineer.delete(f"changes/{change.pk}").status == 204
    change.refresh_from_db()
    assert change.document == change.base_document == {}
    assert engineer.get(f"changes/{change.pk}/diff").body["diff"] == before != []
    detail = engineer.get(f"changes/{change.pk}").body
    assert detail["document"] is None and detail["is_empty"] is False and detail["expires_at"] is None
    assert engineer.get(f"config?change={change.pk}").status == 409
    assert engineer.get(f"changes/{change.pk}/plan").status == 409


def test_an_abandoned_change_set_is_discarded_and_says_why(engineer: ApiClient, admin: ApiClient) -> None:
    old, young = _open(engineer), _open(engineer)
    ChangeSet.objects.filter(pk=old.pk).update(updated_at=timezone.now() - closing.OPEN_KEPT)
    assert engineer.get(f"changes/{young.pk}").body["expires_at"] is not None
    clean_up()
    answer = engineer.get(f"changes/{old.pk}").body
    assert answer["state"] == "discarded" and answer["note"] == "Not edited for 30 days."
    assert engineer.get(f"changes/{young.pk}").body["state"] == "open"
    entry = admin.get("audit?action=change.expire").body["items"][0]
    assert entry["username"] == "millrace" and entry["target"] == f"change set {old.pk}"
    ChangeSet.objects.filter(pk=old.pk).update(updated_at=timezone.now() - closing.CLOSED_KEPT)
    clean_up()
    assert engineer.get(f"changes/{old.pk}").status == 404


def test_what_an_earlier_release_kept_whole_is_compacted(engineer: ApiClient) -> None:
    change = _open(engineer)
    ChangeSet.objects.filter(pk=change.pk).update(state="committed", committed_revision=2)
    clean_up()
    change.refresh_from_db()
    assert change.document == {} and len(change.changes) == 1 and change.committed_revision == 2


def test_a_user_has_so_many_open_change_sets(engineer: ApiClient) -> None:
    statuses = [engineer.post("changes", {"title": "x"}).status for _ in range(closing.MAX_OPEN + 1)]
    assert statuses == [201] * closing.MAX_OPEN + [409]


def test_everything_is_reduced_by_the_job_and_told(engineer: ApiClient) -> None:
    from django.contrib.sessions.models import Session

    from webui.accounts.models import ApiToken, User
    from webui.api.models import IdempotencyRecord
    from webui.jobs.models import Job

    now = timezone.now()
    long_ago = now - timedelta(days=400)
    user = User.objects.get(username="engineer")
    Session.objects.create(session_key="a" * 32, session_data="", expire_date=long_ago)
    token = ApiToken.objects.create(user=user, name="old", prefix="x", digest="x", revoked_at=long_ago)
    job = Job.objects.create(kind="ping", owner=user, state="done")
    Job.objects.filter(pk=job.pk).update(created_at=long_ago)
    record = IdempotencyRecord.objects.create(user=user, key="k", fingerprint="f", status=200)
    IdempotencyRecord.objects.filter(pk=record.pk).update(created_at=long_ago)
    removed = clean_up()
    for name in ("sessions", "ended API tokens", "jobs", "answers by Idempotency-Key"):
        assert removed[name] == 1, name
    assert not ApiToken.objects.filter(pk=token.pk).exists()
    assert engineer.get("me").status == 200
    told = {one["kind"]: one for one in engineer.get("storage").body["kinds"]}
    assert set(told) == {one.name for one in KINDS}
    assert told["users"]["rows"] == 1 and told["audit log"]["most_rows"] == kind("audit log").most_rows


def test_one_kind_that_fails_keeps_no_other(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Kind, now: object) -> int:
        if self.name == "users":
            raise RuntimeError("broken")
        return 0

    monkeypatch.setattr(Kind, "reduce", broken)
    assert set(clean_up()) == {one.name for one in KINDS} - {"users"}


def test_sqlite_gives_space_back(tmp_path: Any) -> None:
    """On SQLite, in a process of its own: the tests' database is PostgreSQL."""
    import os
    import subprocess
    import sys

    program = """
import django; django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from django.utils import timezone
from dataclasses import replace
from webui.accounts.models import AuditEntry
from webui.storage.clean_up import clean_up, give_back
from webui.storage.registry import KINDS
from django.conf import settings
AuditEntry.objects.bulk_create(
    [AuditEntry(username="a", address="", via="", action="x", result="done", changes=["y" * 10000]) for _ in
    range(600)]
)
clean_up()
full = settings.DATABASES["default"]["NAME"].stat().st_size
kind = next(one for one in KINDS if one.name == "audit log")
assert replace(kind, most_rows=10).reduce(timezone.now()) == 590
assert AuditEntry.objects.count() == 10
assert not give_back() and give_back(1 << 20) and not give_back(1 << 20)
print(full, settings.DATABASES["default"]["NAME"].stat().st_size)
"""
    environment = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    environment |= {"MILLRACE_STATE_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "webui.settings"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    full, small = map(int, done.stdout.split())
    assert full > 5 << 20 and small < full // 3


def test_the_audit_of_a_guess_is_no_larger_than_its_name(db: None) -> None:
    entry = audit.record_login("x" * 5000, "y" * 5000, "login", "failed", "z" * 5000)
    assert len(entry.username) == len(entry.address) == 64 and len(entry.detail) == 1000
