"""Unreadable recorded state described in sentences: what is lost, what runs instead, what to do. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from appliance.config.counted import counted

_NAMED = 5
"""How many older revisions are named one by one; a count stands for the rest."""


def concerning_what_runs(
    head: int, running: int, damaged: Mapping[int, str], shut: Collection[str]
) -> list[str]:
    """Why the router does not run the last commit; ``shut`` are secrets that the key does not open."""
    sentences = []
    if running != head:
        problem = damaged.get(head, "it cannot be read")
        if running:
            sentences.append(
                f"revision {head} is damaged ({problem}); revision {running} runs instead. "
                f"Commit what is missing, or roll back to revision {running} to keep it as it is"
            )
        else:
            sentences.append(
                f"revision {head} is damaged ({problem}), and no other revision is intact: the router is "
                "left as it is. Commit its configuration again, from a backup"
            )
    sentences += [
        f"the secret at {pointer} cannot be opened with this router's key and is left out: commit it again"
        for pointer in shut
    ]
    return sentences


def of_history(head: int, running: int, damaged: Mapping[int, str]) -> list[str]:
    """Damage that affects nothing but rollback."""
    older = [number for number in sorted(damaged, reverse=True) if number != head or running == head]
    sentences = [
        f"revision {number} is damaged ({damaged[number]}): it cannot be rolled back to, "
        "and nothing else is affected"
        for number in older[:_NAMED]
    ]
    if len(older) > _NAMED:
        sentences.append(
            f"damaged too: {counted(len(older) - _NAMED, 'more revision')}; see the list of revisions"
        )
    return sentences
