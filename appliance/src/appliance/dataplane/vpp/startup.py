"""The part of VPP's startup file that the document decides; the rest of the file is left as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

Words = list["str | Section"]


@dataclass
class Section:
    """``name { … }``."""

    name: str
    words: Words


@dataclass(frozen=True)
class StartupSettings:
    """Settings that VPP reads only when it starts."""

    workers: int
    main_core: int | None
    main_heap_mb: int
    stats_segment_mb: int
    buffers_per_numa: int


UNSAID = StartupSettings(0, None, 512, 128, 16384)
"""The settings assumed for an empty startup file."""


@lru_cache(maxsize=2)
def read(text: str) -> StartupSettings:
    """The settings in a startup file; one it does not give is that of ``UNSAID``."""
    words = parse(text)
    heap = _get(words, "memory", "main-heap-size")
    stats = _get(words, "statseg", "size")
    buffers = _get(words, "buffers", "buffers-per-numa")
    main_core = _get(words, "cpu", "main-core")
    return StartupSettings(
        _workers(words),
        int(main_core) if main_core is not None else None,
        _megabytes(heap) if heap is not None else UNSAID.main_heap_mb,
        _megabytes(stats) if stats is not None else UNSAID.stats_segment_mb,
        int(buffers) if buffers is not None else UNSAID.buffers_per_numa,
    )


def naps(text: str) -> bool:
    """Whether VPP, by its startup file, sleeps between polls and so leaves its CPUs to others."""
    return int(_get(parse(text), "unix", "poll-sleep-usec") or 0) > 0


def rewrite(text: str, settings: StartupSettings) -> str:
    """The startup file with these settings, everything else as it was except comments and layout."""
    words = parse(text)
    _set(words, "cpu", "corelist-workers", None)
    _set(words, "cpu", "workers", str(settings.workers) if settings.workers else None)
    _set(words, "cpu", "main-core", str(settings.main_core) if settings.main_core is not None else None)
    _set(words, "memory", "main-heap-size", f"{settings.main_heap_mb}M")
    _set(words, "statseg", "size", f"{settings.stats_segment_mb}M")
    _set(words, "buffers", "buffers-per-numa", str(settings.buffers_per_numa))
    return "".join(f"{line}\n" for line in _lines(words, ""))


def _workers(words: Words) -> int:
    cores = _get(words, "cpu", "corelist-workers")
    if cores is None:
        return int(_get(words, "cpu", "workers") or 0)
    spans = [part.partition("-") for part in cores.split(",")]
    return sum(int(high or low) - int(low) + 1 for low, _, high in spans)


def parse(text: str) -> Words:
    """Words and sections of a startup file, without comments. Raises ValueError where braces do not match."""
    tokens = iter(re.findall(r"[{}]|[^\s{}]+", re.sub(r"#.*", "", text)))
    words, closed = _parse(tokens)
    if closed:
        raise ValueError("the startup file closes a brace it never opened")
    return words


def _parse(tokens: Iterator[str]) -> tuple[Words, bool]:
    words: Words = []
    for token in tokens:
        if token == "}":
            return words, True
        if token == "{":
            if not words or isinstance(words[-1], Section):
                raise ValueError("the startup file opens a brace without a name")
            name = str(words.pop())
            inside, closed = _parse(tokens)
            if not closed:
                raise ValueError(f"the startup file does not close section {name}")
            words.append(Section(name, inside))
        else:
            words.append(token)
    return words, False


def _section(words: Words, name: str) -> Section | None:
    return next((word for word in words if isinstance(word, Section) and word.name == name), None)


def _get(words: Words, section: str, key: str) -> str | None:
    found = _section(words, section)
    if found is None or key not in found.words:
        return None
    position = found.words.index(key) + 1
    value = found.words[position] if position < len(found.words) else None
    return value if isinstance(value, str) else None


def _set(words: Words, section: str, key: str, value: str | None) -> None:
    found = _section(words, section)
    if found is None:
        if value is None:
            return
        found = Section(section, [])
        words.append(found)
    if key in found.words:
        position = found.words.index(key)
        del found.words[position : position + 2]
    if value is not None:
        found.words += [key, value]
    elif not found.words:
        words.remove(found)


def _megabytes(text: str) -> int:
    match = re.fullmatch(r"(\d+)([kKmMgG]?)[bB]?", text)
    if match is None:
        raise ValueError(f"the startup file has {text} where a size is expected")
    scale = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}[match[2].lower()]
    return int(match[1]) * scale >> 20


def _lines(words: Words, indent: str) -> Iterator[str]:
    line: list[str] = []
    for word in words:
        if isinstance(word, str):
            line.append(word)
            continue
        # A name's words stand before its brace: `plugin linux_cp_plugin.so { enable }`.
        before = " ".join([*line, word.name])
        line = []
        if any(isinstance(inner, Section) for inner in word.words):
            yield f"{indent}{before} {{"
            yield from _lines(word.words, indent + "  ")
            yield f"{indent}}}"
        else:
            inside = " ".join(str(inner) for inner in word.words)
            yield f"{indent}{before} {{ {inside} }}" if inside else f"{indent}{before} {{ }}"
    if line:
        yield f"{indent}{' '.join(line)}"
