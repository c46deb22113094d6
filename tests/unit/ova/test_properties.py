"""The properties that an OVA asks for, that a first boot reads and that a user is told of are the same."""

from pathlib import Path

from appliance.firstboot.seed import Seed
from ova.properties import CATEGORIES

ROOT = Path(__file__).resolve().parents[3]
KEYS = [entry.key for category in CATEGORIES for entry in category.properties]


def test_the_first_boot_reads_each() -> None:
    assert sorted(KEYS) == sorted(Seed.model_fields)


def test_the_page_names_each() -> None:
    page = (ROOT / "docs/install-esxi.md").read_text()
    assert [key for key in KEYS if f"(`{key}`)" not in page] == []


def test_labels_and_descriptions_are_there() -> None:
    for category in CATEGORIES:
        for entry in category.properties:
            assert entry.label and entry.description.endswith("."), entry.key
