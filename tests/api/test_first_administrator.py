"""The administrator whose password hash (crypt(3)) the first boot passes on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import authenticate
from django.core.management import CommandError, call_command
from django.test import RequestFactory

from tests.api.conftest import ApiClient

HASH = "$6$abcdefgh$yVfUwsw5T.JApa8POvClA1pQ5peiq97DUNyXCZN5IrF.BMSkiaLQ5kvpuEm/VQ1Tvh/KV2TcaWh8qinoW5dhA1"
"""Of `password`, as openssl passwd -6 -salt abcdefgh prints it."""


@pytest.fixture
def hash_file(tmp_path: Path) -> Path:
    path = tmp_path / "admin.hash"
    path.write_text(HASH + "\n")
    return path


def sign_in(password: str) -> Any:
    return authenticate(RequestFactory().post("/login"), username="admin", password=password)


@pytest.mark.django_db
def test_the_hash_lets_in_and_gives_way_to_argon2(hash_file: Path) -> None:
    from webui.accounts.models import User

    call_command("ensure_administrator", password_hash_file=hash_file)
    user = User.objects.get(username="admin")
    assert (user.role, user.password) == ("admin", f"crypt${HASH}")
    assert sign_in("passwore") is None
    assert sign_in("pass\x00word") is None
    assert User.objects.get(username="admin").password == f"crypt${HASH}"
    assert sign_in("password") == user
    assert User.objects.get(username="admin").password.startswith("argon2")
    assert sign_in("password") == user


@pytest.mark.django_db
def test_a_router_with_an_admin_is_left_alone(hash_file: Path) -> None:
    from webui.accounts.models import User

    User.objects.create_user("somebody", "a long enough passphrase", "admin")
    call_command("ensure_administrator", password_hash_file=hash_file)
    assert not User.objects.filter(username="admin").exists()


@pytest.mark.django_db
def test_until_the_first_sign_in_the_seed_decides(hash_file: Path, tmp_path: Path) -> None:
    from webui.accounts.models import User

    generated = tmp_path / "generated.hash"
    generated.write_text("$6$abcdefgh$" + "x" * 86 + "\n")
    # The first boot's seed had a mistake; it is corrected at the second.
    call_command("ensure_administrator", password_hash_file=generated)
    call_command("ensure_administrator", password_hash_file=hash_file)
    assert sign_in("password") == User.objects.get(username="admin")
    call_command("ensure_administrator", password_hash_file=generated)
    assert sign_in("password") is not None, "the web page keeps its own from then on"


@pytest.mark.django_db
@pytest.mark.parametrize("text", ["", "plain text\n", "$6$" + "x" * 200])
def test_what_is_no_hash_is_refused(tmp_path: Path, text: str) -> None:
    from webui.accounts.models import User

    (tmp_path / "hash").write_text(text)
    with pytest.raises(CommandError):
        call_command("ensure_administrator", password_hash_file=tmp_path / "hash")
    with pytest.raises(CommandError):
        call_command("ensure_administrator", password_hash_file=tmp_path / "missing")
    assert not User.objects.exists()


def test_the_console_learns_of_a_new_password(admin: ApiClient, settings: Any, tmp_path: Path) -> None:
    from webui.accounts.models import User

    settings.STATE_DIR = tmp_path
    user = User.objects.get(username="admin")
    user.set_password("the one before it")
    user.save()
    words = {"password": "a long enough passphrase", "current_password": "the one before it"}
    changed = admin("PATCH", f"users/{user.pk}", words)
    assert changed.status == 200, changed.body
    assert (tmp_path / "first-password-changed").exists()


@pytest.mark.django_db
def test_prepare_makes_it_too(hash_file: Path, tmp_path: Path, settings: Any) -> None:
    """One start of Django at each boot; the second time there is nothing left to do."""
    from webui.accounts.models import User

    settings.STATE_DIR = tmp_path
    settings.STATIC_ROOT = tmp_path / "static"
    for _ in range(2):
        call_command("prepare", password_hash_file=hash_file)
    assert User.objects.get(username="admin").password == f"crypt${HASH}"
    assert any((tmp_path / "static").rglob("*.css"))


@pytest.mark.django_db
@pytest.mark.parametrize("left", ["", '{"paths": {'])
def test_half_a_collection_of_static_files_is_made_anew(left: str, tmp_path: Path, settings: Any) -> None:
    """The power failed while Django wrote its list of them."""
    settings.STATE_DIR = tmp_path
    settings.STATIC_ROOT = tmp_path / "static"
    settings.STATIC_ROOT.mkdir()
    settings.STORAGES = {"staticfiles": {"BACKEND": "webui.http.static_files.HashedStaticFilesStorage"}}
    (settings.STATIC_ROOT / "staticfiles.json").write_text(left)
    call_command("prepare")
    names = json.loads((settings.STATIC_ROOT / "staticfiles.json").read_text())["paths"]
    assert names
    assert all((settings.STATIC_ROOT / hashed).stat().st_size > 0 for hashed in names.values())


@pytest.mark.django_db
def test_static_files_of_the_image_are_not_collected_again(tmp_path: Path, settings: Any) -> None:
    settings.STATE_DIR = tmp_path
    settings.STATIC_BUILT = True
    settings.STATIC_ROOT = tmp_path / "static"
    call_command("prepare")
    assert not settings.STATIC_ROOT.exists()


def test_prepare_waits_for_no_page_and_no_document(tmp_path: Path) -> None:
    """Importing every operation and every model of the document takes longer than all of its own work."""
    script = (
        "import sys; sys.argv = ['webui', 'prepare']; from webui.__main__ import main; main();"
        "print([name for name in ('webui.api.api', 'webui.ui.urls', 'appliance.config.document')"
        " if name in sys.modules])"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MILLRACE_")}
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**environment, "MILLRACE_STATE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
    assert (tmp_path / "static" / "staticfiles.json").exists()
