"""Prefixes that the kernel receives without an interface that has them."""

from __future__ import annotations

import pytest

from appliance.dataplane.linux.local_routes import receive, received_prefixes
from tests.integration.linux.conftest import Router, run
from tests.sizes import at_size

pytestmark = pytest.mark.root


def test_thousands_come_and_go_and_others_are_not_ours(router: Router) -> None:
    wanted = [f"198.18.{number >> 7}.{number % 128 * 2}/32" for number in range(at_size(4000))]
    wanted.append("198.19.0.8/29")

    def all_of_them(yes: bool) -> None:
        for prefix in wanted:
            receive(prefix, yes)

    space = router.backend._space
    for _ in range(2):
        space.run(all_of_them, True)
        assert sorted(space.run(received_prefixes)) == sorted(wanted)
    assert run(router.middle, "ip", "route", "get", "198.19.0.9").stdout.startswith("local 198.19.0.9")
    # The kernel has local routes of its own, and somebody else may have some.
    run(router.middle, "ip", "route", "add", "local", "198.19.1.1", "dev", "lo", "table", "local")
    for _ in range(2):
        space.run(all_of_them, False)
        assert space.run(received_prefixes) == []
    assert "198.19.1.1" in run(router.middle, "ip", "route", "show", "table", "local").stdout
