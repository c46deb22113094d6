"""The database's schema matches the models, and a deployment passes Django's own checks."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.db import models
from django.db.migrations import operations
from django.db.migrations.loader import MigrationLoader
from django.db.models import NOT_PROVIDED


@pytest.mark.django_db
def test_no_migration_is_missing() -> None:
    call_command("makemigrations", check_changes=True, dry_run=True, verbosity=0)


FIRST = {
    "accounts": {"0001_initial", "0002_audit_append_only"},
    "api": {"0001_initial"},
    "changes": {"0001_initial", "0002_commit_request"},
    "jobs": {"0001_initial"},
    "metrics": {"0001_initial"},
}
"""Migrations of the first release: no image is older."""
_BREAKING = (
    *(operations.RemoveField, operations.RenameField, operations.AlterField),
    *(operations.DeleteModel, operations.RenameModel, operations.AlterModelTable),
)


def breaks_the_release_before(operation: operations.base.Operation) -> bool:
    """Whether a release without this migration may fail on a database that has it."""
    if isinstance(operation, operations.AddField):
        field = operation.field
        return not (field.null or field.many_to_many or field.db_default is not NOT_PROVIDED)
    return isinstance(operation, _BREAKING)


def test_an_upgrade_that_is_returned_from_leaves_a_database_that_the_old_release_can_use() -> None:
    """A breaking change is split: unused in one release, removed in the next, and listed here."""
    found = [
        f"{app}.{name}: {operation.describe()}"
        for (app, name), migration in MigrationLoader(None).disk_migrations.items()
        if migration.__module__.startswith("webui.") and name not in FIRST.get(app, ())
        for operation in migration.operations
        if breaks_the_release_before(operation)
    ]
    assert found == []


def test_what_breaks_the_release_before() -> None:
    text: models.Field[str, str] = models.CharField(max_length=9, blank=True)
    assert breaks_the_release_before(operations.AddField("audit", "more", text))
    assert breaks_the_release_before(operations.RemoveField("audit", "more"))
    named: models.Field[str, str] = models.CharField(max_length=9, db_default="")
    assert not breaks_the_release_before(operations.AddField("audit", "more", named))
    assert not breaks_the_release_before(operations.CreateModel("more", []))


def test_a_deployment_passes_the_checks() -> None:
    call_command("check", deploy=True, fail_level="ERROR")
