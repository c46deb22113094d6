"""The whole document as text: pages and API that show it, accept it and compare two."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from tests.api.conftest import ApiClient, MakeClient
from tests.api.router_in_memory import PASSWORD
from tests.api.test_pages import browser_of, get

SEALED = "$sealed$"
NEIGHBOR = "/routing/bgp/neighbors/192.0.2.1"


@pytest.fixture
def browser(client_of: MakeClient) -> Client:
    """An engineer's browser."""
    return browser_of("engineer", client_of)


def text_of(page: str) -> list[str]:
    """The lines the page shows."""
    return html.unescape(page.split('<pre id="configuration-text">')[1].split("</pre>", maxsplit=1)[0]).split(
        "\n"
    )


def downloaded(browser: Client, query: str = "") -> tuple[str, str]:
    """Text and file name."""
    response = browser.get(f"/configuration/download{query}", secure=True)
    assert response.status_code == 200, response.content[:500]
    name = re.fullmatch(r'attachment; filename="([^"]+)"', response["Content-Disposition"])
    assert name is not None, response["Content-Disposition"]
    return response.content.decode(), name[1]


def upload(browser: Client, document: Any, status: int = 302, **fields: Any) -> str:
    """Pastes it; returns the page's message, or the address that it leads to."""
    text = document if isinstance(document, str) else json.dumps(document)
    response = browser.post("/configuration/upload", {"document": text, **fields}, secure=True)
    assert response.status_code == status, response.content.decode()[:3000]
    return str(response["Location"]) if status == 302 else html.unescape(response.content.decode())


def open_document() -> dict[str, Any]:
    """The candidate of the open change set, sealed."""
    from webui.changes.models import ChangeSet

    return dict(ChangeSet.objects.get(state="open").document)


@pytest.mark.parametrize("role", ["viewer", "operator", "engineer", "admin"])
def test_everybody_sees_the_running_configuration_without_its_secrets(
    role: str, client_of: MakeClient
) -> None:
    browser = browser_of(role, client_of)
    page = get(browser, "/configuration")
    lines = text_of(page)
    assert "set system hostname edge" in lines
    assert "set routing bgp neighbors 192.0.2.1 password ********" in lines
    as_json = get(browser, "/configuration?as=json")
    assert json.loads("\n".join(text_of(as_json))) == client_of(role).get("config").body
    for text in (page, as_json, downloaded(browser)[0], downloaded(browser, "?as=json")[0]):
        assert PASSWORD not in text
        assert SEALED not in text
    assert ('action="/configuration/upload"' in page) == (role in ("engineer", "admin"))


def test_the_lines_are_numbered_and_the_page_is_in_the_menu(browser: Client) -> None:
    page = get(browser, "/configuration")
    numbers = page.split('<pre aria-hidden="true">')[1].split("</pre>", maxsplit=1)[0].split("\n")
    assert numbers == [str(number) for number in range(1, len(text_of(page)) + 1)]
    assert re.search(r'<a[^>]*href="/configuration"[^>]*aria-current="page"', page)


def test_a_download_is_named_by_hostname_and_revision(browser: Client, client_of: MakeClient) -> None:
    revision = client_of("viewer").get("status").body["revision"]
    text, name = downloaded(browser)
    assert name == f"edge-revision-{revision}.set"
    assert text == client_of("viewer").get("config?format=set").body.decode()
    client_of("engineer").merge("config/system", {"hostname": "core"})
    text, name = downloaded(browser, f"?of={revision}&as=json")
    assert name == f"edge-revision-{revision}.json"
    assert json.loads(text)["system"]["hostname"] == "edge"
    assert downloaded(browser, "?as=json")[1] == f"core-revision-{revision + 1}.json"


def test_a_long_configuration_is_shown_in_part_and_downloaded_whole(
    browser: Client, client_of: MakeClient
) -> None:
    rules = {str(number): {"action": "permit", "source": "10.0.0.0/8"} for number in range(1, 3001)}
    assert client_of("engineer").put("config/acls/long", {"rules": rules}).status == 200
    page = get(browser, "/configuration")
    assert len(text_of(page)) == 2000
    assert re.search(r"The first 2.000 of 6.\d\d\d lines", page), page.split("configuration-lines")[1][:300]
    assert "Copy these lines" in page
    whole = downloaded(browser)[0].splitlines()
    assert len(whole) > 6000
    assert whole[:2000] == text_of(page)


def test_a_part_as_set_commands(viewer: ApiClient) -> None:
    answer = viewer.get("config/interfaces/lan0?format=set")
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.body.decode().splitlines() == [
        "set interfaces lan0 addresses 10.10.0.1/24",
        "set interfaces lan0 type ethernet",
        "set interfaces lan0 match device nic-lan",
    ]
    assert viewer.get("config/interfaces/lan0/addresses/0?format=set").status == 200
    assert viewer.get("config?format=xml").status == 422


def test_what_was_downloaded_and_is_uploaded_again_changes_nothing(browser: Client) -> None:
    from webui.changes.models import ChangeSet

    text, _ = downloaded(browser, "?as=json")
    assert upload(browser, text) == "/configuration"
    assert all(change.is_empty for change in ChangeSet.objects.all())
    file = SimpleUploadedFile("edge.json", b"\xef\xbb\xbf" + text.encode(), "application/json")
    response = browser.post("/configuration/upload", {"file": file, "document": ""}, secure=True)
    assert response["Location"] == "/configuration"


def test_an_upload_becomes_the_users_changes_and_keeps_masked_secrets(browser: Client) -> None:
    document = json.loads(downloaded(browser, "?as=json")[0])
    document["system"]["hostname"] = "core"
    del document["interfaces"]["lo1"]
    file = SimpleUploadedFile("edge.json", json.dumps(document).encode(), "application/json")
    response = browser.post("/configuration/upload", {"file": file}, secure=True)
    assert response["Location"] == "/changes"
    page = html.unescape(get(browser, "/changes"))
    assert "+ hostname: core" in page
    assert "<h2>Plan</h2>" in page
    wanted = open_document()
    assert "lo1" not in wanted["interfaces"]
    assert wanted["routing"]["bgp"]["neighbors"]["192.0.2.1"]["password"].startswith(SEALED)
    assert "password" not in page.split("<h2>Document</h2>")[1]
    assert "the document takes their place" in get(browser, "/configuration")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ('{"system": {"hostname": "a",}}', "line 1 column 29"),
        ('{\n"system": {\n"hostname" "a"}}', "line 3 column 12"),
        ("[]", "The document is not a JSON object"),
        ('{"system": {}, "system": {}}', "names the key 'system' twice"),
        ('{"system": {"hostnam": "a"}}', "<code>/system/hostnam</code>"),
        ('{"interfaces": {"lan0": {"type": "ethernet", "match": {"device": "x"}, "mtu": "big"}}}',
         "<code>/interfaces/lan0/mtu</code>"),
        ("set system hostname core", "configure mode of the command line"),
        ("# as of today\nconfigure\nset system hostname core", "configure mode of the command line"),
        ('{"schema_version": NaN}', "The document has NaN, which is not a JSON number"),
        ("[" * 100_000, "nests deeper"),
        (json.dumps({"routing": {"bgp": {"asn": 65000, "neighbors": {
            "192.0.2.77": {"remote_asn": 65001, "password": "********"}}}}}),
         "/neighbors/192.0.2.77/password</code>: is masked, and there is no secret here to keep"),
    ],
)  # fmt: skip
def test_what_is_no_document_is_refused_by_its_place(browser: Client, text: str, says: str) -> None:
    page = upload(browser, text, 422)
    assert "Nothing was saved." in page
    assert says in page
    if len(text) < 1000:
        assert text in page
    assert open_document()["system"] == {"hostname": "edge"}


def test_a_masked_secret_that_could_be_one_of_two_is_refused_by_name(
    browser: Client, client_of: MakeClient
) -> None:
    document = json.loads(downloaded(browser, "?as=json")[0])
    neighbor = document["routing"]["bgp"]["neighbors"]["192.0.2.1"]
    change = json.loads(json.dumps(document))
    change["routing"]["bgp"]["neighbors"]["192.0.2.1"]["password"] = "battery-staple"
    assert upload(browser, change) == "/changes"
    page = upload(browser, document, 422)
    assert f"<code>{NEIGHBOR}/password</code>: is masked, and your changes have another secret here" in page
    neighbor["password"] = "a-third-one"
    assert upload(browser, document) == "/changes"
    del document["routing"]["bgp"]
    assert upload(browser, document) == "/changes"
    assert "bgp" not in open_document()["routing"]
    # Objects that the changes no longer contain still run.
    assert upload(browser, downloaded(browser, "?as=json")[0]) == "/configuration"


def test_a_file_that_is_no_text_and_two_documents_at_once_are_refused(browser: Client) -> None:
    file = SimpleUploadedFile("edge.json", b'{"a": "\xff"}', "application/json")
    response = browser.post("/configuration/upload", {"file": file}, secure=True)
    assert response.status_code == 422
    assert "is not UTF-8 text: see byte 8" in response.content.decode()
    file = SimpleUploadedFile("edge.json", b"{}", "application/json")
    page = upload(browser, "{}", 422, file=file)
    assert "choose a file or paste it, not both" in page


@pytest.mark.parametrize("role", ["viewer", "operator"])
def test_who_may_not_edit_may_not_upload(role: str, client_of: MakeClient) -> None:
    from webui.changes.models import ChangeSet

    upload(browser_of(role, client_of), {"schema_version": 1}, 403)
    assert not ChangeSet.objects.exists()


def test_two_documents_are_compared_on_the_page_and_over_rest(client_of: MakeClient) -> None:
    engineer = client_of("engineer")
    first = engineer.get("status").body["revision"]
    engineer.merge("config/acls/edge-in/rules/10", {"source": "10.0.0.0/8"})
    engineer.merge("config", {"system": {"hostname": "core"}, "routing": {"bgp": None}})
    for role in ("viewer", "engineer"):
        page = html.unescape(
            get(browser_of(role, client_of), f"/configuration/compare?from={first}&to=running")
        )
        assert f"From revision {first}, to revision {first + 2}, which runs" in page
        assert "+ 10 permit any 10.0.0.0/8 any" in page
        assert PASSWORD not in page
        assert SEALED not in page
    answer = client_of("viewer").get(f"compare?from={first}&to=running&limit=2").body
    assert answer["total"] == 3
    assert [one["path"] for one in answer["items"]] == ["/acls/edge-in/rules/10/source", "/routing/bgp"]
    assert answer["items"][1]["before"]["neighbors"]["192.0.2.1"]["password"] == "********"
    rest = client_of("viewer").get(answer["next"]).body
    assert [one["path"] for one in rest["items"]] == ["/system/hostname"]


def test_the_candidate_is_compared_with_what_runs_and_a_changed_secret_shows(
    browser: Client, client_of: MakeClient
) -> None:
    engineer = client_of("engineer")
    assert engineer.get("compare?from=running&to=candidate").status == 404
    assert "You have no changes" in get(browser, "/configuration/compare?from=running&to=candidate", 404)
    number = engineer.post("changes", {}).body["id"]
    assert engineer.merge(f"config{NEIGHBOR}?change={number}", {"password": "battery-staple"}).status == 200
    answer = engineer.get("compare?from=running&to=candidate").body
    assert answer["items"] == [
        {"op": "replace", "path": f"{NEIGHBOR}/password", "before": "********", "after": "********"}
    ]
    client_of("admin").merge("config/system", {"hostname": "core"})
    assert engineer.get("compare?from=running&to=candidate").body["total"] == 1
    assert "Your changes on revision" in get(browser, "/configuration?of=candidate")
    assert "- password: ********" in html.unescape(get(browser, "/configuration/compare"))


def test_what_is_no_revision_is_said_so(browser: Client, viewer: ApiClient) -> None:
    assert viewer.get("compare?from=0&to=running").status == 422
    assert viewer.get("compare?from=latest&to=running").status == 422
    assert viewer.get("compare?from=999999999&to=running").status == 404
    assert "revision 999999" in get(browser, "/configuration/compare?from=999999&to=running", 404)
    assert "no document" in html.unescape(get(browser, "/configuration?of=<b>", 404))


def test_a_comparison_of_thousands_of_objects_is_bounded(browser: Client, client_of: MakeClient) -> None:
    first = client_of("viewer").get("status").body["revision"]
    hops = {"next_hops": [{"address": "10.10.0.9"}]}
    routes = {f"10.{n // 250}.{n % 250}.0/24": hops for n in range(2000)}
    assert client_of("engineer").merge("config/routing/static", routes).status == 200
    page = get(browser, f"/configuration/compare?from={first}&to=running")
    assert page.count('class="diff-object"') == 100
    assert re.search(r"1–100 of 2.000", page)  # noqa: RUF001 - a range is written with it
    document = json.loads(downloaded(browser, f"?of={first}&as=json")[0])
    assert upload(browser, document) == "/changes"
    changes = get(browser, "/changes")
    assert changes.count('class="diff-object"') == 100
    assert re.search(r"2.000 objects, on revision", changes)
