"""Which regular expressions bgpd takes, and where the others are wrong."""

from __future__ import annotations

import ctypes
import random
import subprocess
import sys

import pytest

from frr_config.protocols.policy.as_path_regex import AsPathRegex
from frr_config.protocols.policy.posix_regex import (
    BOUNDARY,
    MOST_ATOMS,
    MOST_BOUNDARIES_IN_A_ROW,
    MOST_EMPTY_REPEATS,
    refusal,
)

_PATHS = ("", "65001", "65001 65001", "1 2 3", "65001 {64512,64513} 7", "(65010) 12", "99999 1")


@pytest.mark.parametrize(
    "text",
    [
        "[]1]",
        "1)",
        "1**",
        "()",
        "1||2",
        "_65001(_65001)*$",
        "(|)",
        "[--9]",
        "$1^",
        "_1" * 60,
        "(_1|2)+_",
        "[[.9.]]",
    ],
)
def test_what_the_library_compiles_is_taken(text: str) -> None:
    assert refusal(text) is None


@pytest.mark.parametrize(
    ("text", "said", "at"),
    [
        ("[[.9]", "Unmatched [", 1),
        ("1[", "Invalid regular expression", 2),
        ("12[3-1]", "Invalid range end", 4),
        ("^(1|2", "Unmatched (", 2),
        ("(1(2)", "Unmatched (", 1),
        ("([(]", "Unmatched (", 1),
        ("1|*2", "Invalid preceding", 3),
        ("^*", "Invalid preceding", 2),
        ("(*1)", "Invalid preceding", 2),
    ],
)
def test_the_librarys_words_and_the_character_are_named(text: str, said: str, at: int) -> None:
    told = refusal(text)
    assert told is not None and said in told and told.endswith(f"at character {at}")


def test_a_boundary_in_brackets_is_no_boundary() -> None:
    told = refusal("1[^_]")
    assert told is not None and told.startswith("the _ at character 4 is in brackets")


def test_what_would_keep_the_library_busy_for_minutes_is_never_given_to_it() -> None:
    assert refusal("(_*)*" * 2) is None
    assert "can be empty" in str(refusal("(_*)*" * 8))
    assert "can be empty" in str(refusal("_*" * (MOST_EMPTY_REPEATS + 1)))


@pytest.mark.parametrize(
    "text",
    [
        "_" * (MOST_BOUNDARIES_IN_A_ROW + 1),
        "_" * 120,
        "1*_" * 40,
        "_.*" * 40,
        "(_|1)" * 20 + "_" * 20,
        "(____)+" * 4,
        "((((((___))+)*))?)+",
    ],
)
def test_boundaries_in_a_row_do_not_take_the_memory_of_the_router(text: str) -> None:
    """120 of them take ten seconds and 2 GB, in the agent and in bgpd."""
    assert "in a row" in str(refusal(text))


@pytest.mark.parametrize("text", ["(" * 39 + "1" + ")+" * 39, "(" * 11 + "1" + "+)" * 11])
def test_what_plus_doubles_again_and_again_is_refused(text: str) -> None:
    assert f"at most {MOST_ATOMS}" in str(refusal(text))


_PIECES = ("_", "1", "(", ")", "|", "+", "*", "?", ".", "^", "$", "[0-9]", "65001")


def test_no_expression_that_is_taken_takes_much_memory() -> None:
    """In one process, whose memory is limited: the library says that memory ended, or the process ends."""
    ended = subprocess.run(
        [sys.executable, "-c", _DRAWN, *_PIECES], capture_output=True, text=True, timeout=240
    )
    assert ended.returncode == 0, ended.stderr[-500:]
    assert int(ended.stdout) > 300


_DRAWN = """
import random, resource, sys
from frr_config.protocols.policy.posix_regex import refusal
with open("/proc/self/statm") as pages:
    now = int(pages.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + (128 << 20),) * 2)
rng, taken = random.Random(9), 0
for _ in range(3000):
    pieces = rng.sample(sys.argv[1:], rng.choice([3, 5, 8]))
    unit = "".join(rng.choice(pieces) for _ in range(rng.randint(1, 10)))
    depth = rng.randint(0, 20)
    closed = "".join(")" + rng.choice(["", "+", "?", "*"]) for _ in range(depth))
    told = refusal(("(" * depth + unit + closed if depth % 2 else unit * rng.randint(1, 40))[:120])
    assert told is None or "emory" not in told
    taken += told is None
print(taken)
"""


def test_the_matcher_of_analyses_agrees_with_the_library() -> None:
    """Where it has a verdict, it is the daemon's."""
    rng, libc = random.Random(4), ctypes.CDLL(None)
    compared = 0
    for _ in range(3000):
        text = "".join(rng.choice("1257_^$.|()*+?[]-0 ".replace(" ", "")) for _ in range(rng.randint(1, 9)))
        if refusal(text) is not None:
            continue
        try:
            ours = AsPathRegex(text)
        except ValueError:
            continue
        compiled = ctypes.create_string_buffer(512)
        assert libc.regcomp(compiled, text.replace("_", BOUNDARY).encode(), 9) == 0
        for path in _PATHS:
            theirs = libc.regexec(compiled, path.encode(), 0, None, 0) == 0
            assert ours.matches(path) == theirs, (text, path)
            compared += 1
        libc.regfree(compiled)
    assert compared > 1000
