"""Files of the agent's state, damaged the way a failing disk or a power cut damages them."""

from __future__ import annotations

import json
import random
from pathlib import Path

_HOW = ("truncated", "emptied", "deleted", "altered", "garbled")
HARM_HISTORY = ("head-object", "head-revision", "history-object", "history-revision", "details")
"""What a revision is made of: the newest whole one runs afterwards."""
KINDS = (*HARM_HISTORY, "job", "journal", "pending")
_NEWEST = 20


def inflict(kind: str, state: Path, rng: random.Random) -> str:
    """Damage one thing below ``state``, all files that hold it or one of them; the agent does not run.

    Returns what was done.
    """
    revisions = sorted((state / "revisions").glob("[0-9]*.json"))
    head, history = revisions[-1], revisions[-_NEWEST:-1] or revisions[-1:]
    match kind:
        case "head-revision":
            paths = [head]
        case "history-revision":
            paths = [rng.choice(history)]
        case "head-object":
            paths = _object(state, head, "digest")
        case "history-object":
            paths = _object(state, rng.choice(history), "digest")
        case "details":
            paths = _object(state, rng.choice(revisions[-_NEWEST:]), "details")
        case "job":
            paths = [rng.choice(sorted((state / "jobs").glob("*.json")))]
        case "journal" | "pending":
            # They exist only while something is under way: a cut left them half written.
            paths = [state / f"{kind}.json"]
            paths[0].write_text(
                '{"base_revision":1,"revision":1,"rollback_to":0,"confirm_s":5,"expires_at_s":1}'
            )
        case _:
            raise ValueError(kind)
    how = rng.choice([word for word in _HOW if word != "deleted" or kind not in ("journal", "pending")])
    chosen = paths if rng.random() < 0.5 else [rng.choice(paths)]
    for path in chosen:
        _damage(path, how, rng)
    return f"{' '.join(str(path.relative_to(state)) for path in chosen)} {how}"


def _object(state: Path, revision: Path, field: str) -> list[Path]:
    """The files of an object that a revision names, however many copies the store keeps of it."""
    try:
        name = str(json.loads(revision.read_bytes())[field])
    except (ValueError, KeyError):
        return [revision]  # damaged already
    return sorted((state / "objects").glob(f"{name}.*")) or [revision]


def _damage(path: Path, how: str, rng: random.Random) -> None:
    data = path.read_bytes() if path.exists() else b""
    match how:
        case "truncated":
            path.write_bytes(data[: rng.randrange(len(data))] if data else b"")
        case "emptied":
            path.write_bytes(b"")
        case "deleted":
            path.unlink(missing_ok=True)
        case "altered":
            at = rng.randrange(len(data)) if data else 0
            path.write_bytes(data[:at] + bytes([data[at] ^ 1 if data else 1]) + data[at + 1 :])
        case "garbled":
            path.write_bytes(rng.randbytes(max(64, len(data))))
