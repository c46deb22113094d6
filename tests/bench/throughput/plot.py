"""A line chart as SVG, readable on light and on dark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import log10

WIDTH, HEIGHT = 720, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 150, 40, 50
_COLORS = {"millrace": "#0f766e", "bare": "#b45309", "kernel": "#6d28d9"}
_STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1f2937 } .grid { stroke: #9ca3af; stroke-width: .5 }
@media (prefers-color-scheme: dark) { text { fill: #e5e7eb } .grid { stroke: #6b7280 } }
"""


def line_chart(title: str, x_title: str, lines: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    """Millions of packets a second over a size, by router; sizes on a logarithmic axis, 0 drawn at 0.5."""
    places = sorted({x for points in lines.values() for x, _ in points})
    low, high = log10(max(places[0], 0.5)), log10(max(places[-1], 1))
    top = _ceiling(max(y for points in lines.values() for _, y in points))
    inner_w, inner_h = WIDTH - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM

    def at(x: float, y: float) -> tuple[float, float]:
        share = (log10(max(x, 0.5)) - low) / (high - low) if high > low else 0.5
        return _LEFT + share * inner_w, _TOP + inner_h * (1 - y / top)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>{escape(title)}</title><style>{_STYLE}</style>",
        f'<text x="{_LEFT}" y="22">{escape(title)}</text>',
    ]
    for number in range(5):
        y = top * number / 4
        _, down = at(places[0], y)
        parts.append(f'<path class="grid" d="M{_LEFT} {down:.1f}H{_LEFT + inner_w}"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{down + 4:.1f}" text-anchor="end">{y:g}</text>')
    for x in places:
        across, _ = at(x, 0)
        parts.append(
            f'<text x="{across:.1f}" y="{_TOP + inner_h + 20}" text-anchor="middle">{_short(x)}</text>'
        )
    middle = _LEFT + inner_w / 2
    parts.append(f'<text x="{middle}" y="{HEIGHT - 8}" text-anchor="middle">{escape(x_title)}</text>')
    ends: list[float] = []
    for name, points in lines.items():
        color = _COLORS[name]
        drawn = [at(x, y) for x, y in points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in drawn)
        parts.append(f'<polyline fill="none" stroke="{color}" stroke-width="2" points="{path}"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{color}"/>' for x, y in drawn]
        label = drawn[-1][1] + 4
        while any(abs(label - other) < 16 for other in ends):
            label += 16
        ends.append(label)
        parts.append(
            f'<text x="{_LEFT + inner_w + 14}" y="{label:.1f}" style="fill:{color};font-weight:600">'
            f"{escape(NAMES[name])}</text>"
        )
    return "\n".join([*parts, "</svg>", ""])


NAMES = {"millrace": "Millrace", "bare": "VPP by hand", "kernel": "Linux kernel"}


def _ceiling(value: float) -> float:
    """A round number above."""
    for step in (1, 2, 4, 8, 12, 16, 20, 24, 32, 40, 60, 80):
        if value <= step:
            return float(step)
    return value


def _short(value: float) -> str:
    if value >= 1e6:
        return f"{value / 1e6:g}M"
    return f"{value / 1000:.0f}k" if value >= 1000 else f"{value:g}"
