"""The database's schema is what the models say, and a deployment passes Django's own checks."""

from __future__ import annotations

import pytest
from django.core.management import call_command


@pytest.mark.django_db
def test_no_migration_is_missing() -> None:
    call_command("makemigrations", check_changes=True, dry_run=True, verbosity=0)


def test_a_deployment_passes_the_checks() -> None:
    call_command("check", deploy=True, fail_level="ERROR")
