"""The code that goes into the image."""

from __future__ import annotations

from pathlib import Path

import pytest

from packer.image.python_code import MEMBERS, copy_member

REPOSITORY = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("member", MEMBERS)
def test_every_module_of_a_member_is_built(member: str, tmp_path: Path) -> None:
    """Whatever its folder is called: `system` beside the code is the image's files, below it it is code."""
    copy_member(REPOSITORY / member, tmp_path / member)
    modules = {path.relative_to(REPOSITORY / member) for path in (REPOSITORY / member / "src").rglob("*.py")}
    assert modules
    assert {path.relative_to(tmp_path / member) for path in (tmp_path / member).rglob("*.py")} >= modules


def test_what_is_no_code_stays_out(tmp_path: Path) -> None:
    member = tmp_path / "member"
    for name in (
        "system/etc/hosts",
        "build/lib/old.py",
        "dist/old.whl",
        "src/a/__pycache__/a.pyc",
        "src/a/dist/b.py",
    ):
        (member / name).parent.mkdir(parents=True, exist_ok=True)
        (member / name).touch()
    copy_member(member, tmp_path / "copy")
    found = [
        str(path.relative_to(tmp_path / "copy")) for path in (tmp_path / "copy").rglob("*") if path.is_file()
    ]
    assert found == ["src/a/dist/b.py"]
