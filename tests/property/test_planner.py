"""Random states of made-up kinds: every intermediate state of a plan is possible, forwards and backwards."""

from __future__ import annotations

import random

import pytest

from planner import PHASES
from tests.unit.planner.toys import Bolt, Bridge, Canal, Sluice, Toy, World, plan, state

WALKS = range(40)
STATES = 12


def random_state(rng: random.Random) -> dict[str, Toy]:
    """A state without contradictions, of the same few names, so that two of them have much in common."""
    items: dict[str, Toy] = {}

    def some(kind: type[Toy], most: int) -> tuple[str, ...]:
        names = [item.name for item in items.values() if isinstance(item, kind)]
        return tuple(rng.sample(names, rng.randint(0, min(most, len(names)))))

    def keep(item: Toy) -> None:
        items[item.name] = item

    for number in range(5):
        if rng.random() < 0.6:
            keep(Bolt(f"bolt{number}", form=rng.randint(0, 2), make=rng.randint(0, 4) // 4))
    for number in range(5):
        if rng.random() < 0.7:
            outer = next((name for name in some(Canal, 1)), "")
            width = rng.choice([4, 6, 8, 10])
            wide = items.get(outer)
            if isinstance(wide, Canal):
                width = min(width, wide.width)
            keep(
                Canal(
                    f"canal{number}",
                    form=rng.randint(0, 1),
                    make=rng.randint(0, 4) // 4,
                    outer=outer,
                    width=width,
                    open=rng.random() < 0.7,
                    dry_change=rng.random() < 0.3,
                )
            )
    for number in range(6):
        if rng.random() < 0.6:
            kind: type[Toy] = rng.choice((Bolt, Canal, Bridge))
            keep(
                Bridge(
                    f"bridge{number}",
                    some(kind, 2),
                    after=(*some(Bridge, 1), rng.choice(["bolt0", "canal0"])),
                    form=rng.randint(0, 1),
                    make=rng.randint(0, 3) // 3,
                )
            )
    for canal in [item.name for item in items.values() if isinstance(item, Canal)]:
        if rng.random() < 0.6:
            make, form = rng.randint(0, 4) // 4, rng.randint(0, 1)
            keep(Sluice(f"in-{canal}", canal=canal, swaps=some(Bolt, 3), make=make, form=form))
    shuffled = list(items.values())
    rng.shuffle(shuffled)
    return state(*shuffled)


@pytest.mark.parametrize("seed", WALKS)
def test_every_state_leads_to_every_next_and_back(seed: int) -> None:
    rng = random.Random(seed)
    held: dict[str, Toy] = {}
    for _ in range(STATES):
        desired = random_state(rng)
        beside = {item.name: item for item in desired.values()}
        target = {key: item.resolve(held.get(key), beside) for key, item in desired.items()}
        steps = plan(desired, held)
        world = World(held, target)
        world.run(steps)
        assert world.held == target
        assert plan(desired, target) == []
        assert [step.phase for step in steps] == sorted((step.phase for step in steps), key=PHASES.index)
        back = World(target, held)
        back.undo(steps)
        assert back.held == held
        held = target
