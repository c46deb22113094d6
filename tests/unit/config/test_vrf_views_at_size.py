"""Each VRF's view of a large document costs its own interfaces, and no walk over all interfaces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from appliance.config.load import parse_document
from appliance.config.vrf_view import seen_in, views

COUNT = 200


class _Counted(dict[str, Any]):
    """Counts the walks over it."""

    walks = 0

    def items(self) -> Any:
        type(self).walks += 1
        return super().items()

    def __iter__(self) -> Iterator[str]:
        type(self).walks += 1
        return super().__iter__()


def test_all_views_take_one_walk_over_the_interfaces_and_are_the_single_ones() -> None:
    names = [f"v{number}" for number in range(COUNT)]
    loops = {f"loop{at}": {"type": "loopback", "vrf": name} for at, name in enumerate(names)}
    config = parse_document(
        {"vrfs": {name: {} for name in names}, "interfaces": {**loops, "loop9999": {"type": "loopback"}}}
    )
    counted = config.model_copy(update={"interfaces": _Counted(config.interfaces)})
    _Counted.walks = 0
    found = dict(views(counted))
    assert _Counted.walks == 1
    assert list(found) == ["", *names]
    for vrf, view in found.items():
        assert view == seen_in(config, vrf)
        assert len(view.interfaces) == 1
