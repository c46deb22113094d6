"""An interface that has a mirror is taken down through the mirror."""

from __future__ import annotations

from dataclasses import replace

from vpp_config import LcpPair, Loopback, Session, VppState, plan
from vpp_config.fake import FakeVpp

LOOP = Loopback("loop0", instance=0, enabled=True)
PAIR = LcpPair("loop0", "loop0", "mirrors")


def _reach(session: Session, *wanted: Loopback | LcpPair) -> None:
    for step in plan(VppState.of(wanted), session.observe()):
        session.apply(step)


def _changes(fake: FakeVpp) -> list[str]:
    return [call.name for call in fake.calls]


def test_linux_is_told_before_vpp() -> None:
    fake, told = FakeVpp(), []

    def down(netns: str, name: str) -> bool:
        told.append((netns, name, "sw_interface_set_flags" in _changes(fake)))
        # As linux_nl does.
        (index,) = session.interface_names()
        fake.call("sw_interface_set_flags", sw_if_index=index, flags=0)
        return True

    session = Session(fake, take_down_mirror=down)
    _reach(session, LOOP, PAIR)
    fake.calls.clear()
    _reach(session, replace(LOOP, enabled=False), PAIR)
    assert told == [("mirrors", "loop0", False)]
    assert not plan(VppState.of((replace(LOOP, enabled=False), PAIR)), session.observe())
    fake.calls.clear()
    _reach(session)
    assert len(told) == 1, "a mirror that is down has no routes"


def test_without_a_mirror_or_one_to_tell_vpp_is_told_alone() -> None:
    for session, wanted in (
        (Session(FakeVpp(), take_down_mirror=lambda netns, name: False), (LOOP, PAIR)),
        (Session(FakeVpp()), (LOOP, PAIR)),
        (Session(FakeVpp(), take_down_mirror=_never), (LOOP,)),
    ):
        _reach(session, *wanted)
        _reach(session)
        assert session.observe() == VppState.of(())


def _never(netns: str, name: str) -> bool:
    raise AssertionError(f"there is no mirror {name} in {netns}")
