"""What was made lately is not made again, and what nobody asks for is forgotten."""

from __future__ import annotations

from vpp_config.recent import Recent


def test_a_result_is_made_once_while_it_is_asked_for() -> None:
    made: list[int] = []
    recent: Recent[str] = Recent(2)

    def of(number: int) -> str:
        def make() -> str:
            made.append(number)
            return f"result {number}"

        return recent.of(number, make)

    first = of(1)
    assert of(1) is first
    for number in (2, 3, 1, 4, 5, 1):
        of(number)
    assert made == [1, 2, 3, 4, 5], "1 was asked for again before it was old"
    of(2)
    assert made[-1] == 2, "2 was not"
