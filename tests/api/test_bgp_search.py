"""BGP routes searched over REST and on their page, with an index that a test fills."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

import pytest
from django.test import Client

from appliance.features.bgp.index_client import BgpIndexClient
from tests.api.conftest import MakeClient
from tests.api.router_in_memory import RouterInMemory
from tests.api.test_pages import browser_of, get
from tests.toy_bgp_index import HOSTILE, READY, STATUS, ToyBgpIndex, row
from webui.metrics.prometheus import exposition

PAGE = "/bgp/search"
ALL = f"{PAGE}?family=ipv4"
AGAIN = 'hx-trigger="every 2s"'


@pytest.fixture
def index(router: RouterInMemory) -> Iterator[ToyBgpIndex]:
    """An index that is ready, with 250 routes."""
    path = router.directory / "index.sock"
    with ToyBgpIndex(path) as toy:
        toy.status = READY
        toy.rows = [row(number) for number in range(250)]
        router.stop()
        router.bgp_index = BgpIndexClient(path)
        router.start()
        yield toy


@pytest.fixture
def viewer(index: ToyBgpIndex, client_of: MakeClient) -> Client:
    return browser_of("viewer", client_of)


def _words(page: str) -> str:
    """The page's text, with plain dashes."""
    page = page.replace("\N{EN DASH}", "-")
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page)))


def _prefixes(page: str) -> list[str]:
    return re.findall(r'<a class="mono" href="/routes\?prefix=([^"]+)"', page)


def test_rest_answers_a_page_of_routes(index: ToyBgpIndex, client_of: MakeClient) -> None:
    answer = client_of("viewer").get("state/bgp/search?asn=65001&prefix=198.18.0.0/15&offset=20&limit=2").body
    assert [route["prefix"] for route in answer["routes"]] == ["198.18.20.0/24", "198.18.21.0/24"]
    assert (answer["state"], answer["complete"], answer["total"], answer["vrf"]) == (
        "ready",
        True,
        250,
        "default",
    )
    assert answer["routes"][0]["communities"] == ["65001:20"]
    assert index.asked == ["search ipv4 within=198.18.0.0/15 as=65001 offset=20 limit=2"]
    assert client_of("viewer").get("state/bgp/search?path=65001+65010&path_length=2-3").status == 200
    assert index.asked[1] == "search ipv4 path=65001_65010 path_length=2-3 offset=0 limit=100"


def test_rest_tells_of_the_index_without_a_search(index: ToyBgpIndex, client_of: MakeClient) -> None:
    answer = client_of("viewer").get("state/bgp/index").body
    assert (answer["state"], answer["ipv4"]["paths"], answer["neighbors"][0]["asn"]) == ("ready", 1000, 65001)
    assert index.asked == ["status"]
    metrics = exposition().decode()
    assert "millrace_bgp_index_routes 1050.0" in metrics and "millrace_bgp_index_ready 1.0" in metrics


@pytest.mark.parametrize(
    ("question", "field"),
    [
        ("asn=abc", "/asn"),
        ("path=65001%0astatus", "/path"),
        ("community=%3Cscript%3E", "/community"),
        ("neighbor=nobody", "/neighbor"),
        ("match=exact", "/match"),
        ("family=ipv6&prefix=10.0.0.0/8", "/prefix"),
        ("limit=100000", "/limit"),
    ],
)
def test_a_bad_question_names_its_field(
    index: ToyBgpIndex, client_of: MakeClient, question: str, field: str
) -> None:
    answer = client_of("viewer").get(f"state/bgp/search?{question}")
    assert answer.status == 422
    assert [problem["pointer"] for problem in answer.body["errors"]] == [field]
    assert index.asked == []


def test_an_index_that_is_away_is_named(client_of: MakeClient, router: RouterInMemory) -> None:
    router.stop()
    router.bgp_index = BgpIndexClient(router.directory / "nobody.sock")
    router.start()
    answer = client_of("viewer").get("state/bgp/search")
    assert answer.status == 503 and "BGP index: it does not answer" in answer.body["detail"]
    viewer = browser_of("viewer", client_of)
    for page in (PAGE, ALL):
        assert "BGP index: it does not answer" in _words(get(viewer, page))


def test_a_router_without_an_index_says_so(client_of: MakeClient) -> None:
    assert client_of("viewer").get("state/bgp/search").body["state"] == "absent"
    viewer = browser_of("viewer", client_of)
    for page in (PAGE, ALL):
        words = _words(get(viewer, page))
        assert "This router has no BGP index: its routes cannot be searched." in words
        assert "Nothing matches" not in words


def test_opening_the_page_starts_nothing(viewer: Client, index: ToyBgpIndex) -> None:
    index.status = STATUS
    page = get(viewer, PAGE)
    assert index.asked == ["status"]
    assert "The first search reads them from BGP" in page and AGAIN not in page
    index.status = READY
    assert "1,050 routes of the default VRF can be searched." in get(viewer, PAGE)


def test_the_page_shows_routes_with_their_ways(viewer: Client, index: ToyBgpIndex) -> None:
    index.rows[1] = row(1, neighbor="192.0.2.99", med=70, local_preference=200, large_communities=["1:2:3"])
    index.rows[2] = row(2, neighbor="self", as_path="", as_of_s=125)
    page = get(viewer, f"{ALL}&asn=65001")
    words = _words(page)
    assert "1-100 of 250" in words
    assert _prefixes(page)[:2] == ["198.18.0.0%2F24", "198.18.1.0%2F24"]
    assert '<a href="/bgp/neighbors/192.0.2.1">192.0.2.1</a>' in page
    assert '<a href="/bgp/neighbors/192.0.2.99">' not in page, "no such neighbor is configured"
    assert "192.0.2.99 65001 64501 65001:1 1:2:3 192.0.2.1 200 70 1m 1s" in words
    assert "198.18.2.0/24 this router read 2 min ago - 65001:2" in words
    assert "Searched all 1,050 routes of both families" in words and AGAIN not in page
    assert 'name="asn" value="65001"' in page and "<option selected>ipv4</option>" in page


def test_any_page_can_be_gone_to(viewer: Client, index: ToyBgpIndex) -> None:
    index.total = 1_000_000
    page = get(viewer, f"{ALL}&asn=65001&page=2")
    assert index.asked[-1] == "search ipv4 as=65001 offset=100 limit=100"
    assert 'max="10000" value="2"' in page
    form = page.partition('id="bgp-search-jump"')[2].partition("</form>")[0]
    assert re.findall(r'name="(\w+)" value="(\w+)"', form) == [("asn", "65001"), ("family", "ipv4")]
    assert "Page: must be at most" in _words(get(viewer, f"{ALL}&page=999999"))


def test_while_the_index_reads_the_table_asks_again(viewer: Client, index: ToyBgpIndex) -> None:
    index.status = {**READY, "state": "reading"}
    index.rows = []
    page = get(viewer, f"{ALL}&asn=65001")
    assert "The index is being read: 1,050" in page and "Nothing matches this search so far." in page
    again = re.search(rf'hx-get="([^"]+)" {AGAIN} hx-target="closest \[data-table-frame\]"', page)
    assert again is not None
    address = html.unescape(again[1])
    assert AGAIN in get(viewer, address)
    index.status, index.rows = READY, [row(7)]
    fragment = get(viewer, address)
    assert AGAIN not in fragment and _prefixes(fragment) == ["198.18.7.0%2F24"]


def test_a_table_that_is_too_long_is_said(viewer: Client, index: ToyBgpIndex) -> None:
    index.status = {**READY, "truncated": True}
    words = _words(get(viewer, ALL))
    assert "those beyond are not searched" in words and "Searched the first 1,050 routes" in words


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("asn=abc", "AS in path: must be an AS number from 0 to 4294967295"),
        ("origin_asn=-1", "Origin AS: must be an AS number"),
        ("path=a", "Path has in a row: must be AS numbers that follow each other"),
        ("match=within", "Match: needs a prefix or an address"),
        ("community=x", "Community: must be a community such as 65001:100"),
    ],
)
def test_a_wrong_field_is_named_by_its_title(viewer: Client, asked: str, said: str) -> None:
    assert said in _words(get(viewer, f"{ALL}&{asked}"))


def test_what_neighbors_say_is_text_and_has_an_end(viewer: Client, index: ToyBgpIndex) -> None:
    path = " ".join(map(str, range(1, 2001)))
    index.rows = [row(1, as_path=path, communities=[HOSTILE] * 1000, next_hop=HOSTILE, neighbor=HOSTILE)]
    page = get(viewer, ALL)
    assert "<script>alert" not in page and "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "and 1,976 more" in page and "and 988 more" in page
    assert len(page) < 200_000
