"""A picture of series over two axes, as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM = 880, 460, 56, 50, 56
#: Room for the names of the series, per character.
_CHARACTER = 7
_COLOURS = (
    "#1f6fb4", "#d9741a", "#2e8b4f", "#b83232", "#7a52a8", "#87603f", "#cc5fa5", "#6b7680",
    "#9a9a1e", "#1aa3b0", "#24407a", "#a3521a", "#1d5c38",
)  # fmt: skip
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#1c2733}.title{font-size:15px;font-weight:600}"
    ".grid{stroke:#dfe4e9}.line{fill:none;stroke-width:1.8}"
)


@dataclass(frozen=True, slots=True)
class Axis:
    """From the lowest to the highest value; a tick has a value and the lines of its label."""

    lowest: float
    highest: float
    ticks: Sequence[tuple[float, Sequence[str]]]
    logarithmic: bool = False

    @classmethod
    def by_size(cls, values: Sequence[float]) -> Axis:
        """A logarithmic axis with ticks at 1, 2 and 5 times the powers of ten around the values."""
        lowest, highest = min(values), max(values)
        powers = range(math.floor(math.log10(lowest)) - 1, math.ceil(math.log10(highest)) + 1)
        marks = [factor * 10.0**power for power in powers for factor in (1, 2, 5)]
        first = max(mark for mark in marks if mark <= lowest)
        last = min(mark for mark in [*marks, 10.0**powers.stop] if mark >= highest and mark > first)
        inside = [mark for mark in marks if first <= mark <= last]
        return cls(first, last, [(mark, [f"{mark:,.10g}"]) for mark in inside], logarithmic=True)

    def share(self, value: float) -> float:
        """Where a value is: 0 at the lowest end, 1 at the highest."""
        if self.logarithmic:
            return math.log(value / self.lowest) / math.log(self.highest / self.lowest)
        return (value - self.lowest) / (self.highest - self.lowest)


@dataclass(frozen=True, slots=True)
class Series:
    """Points with a name."""

    name: str
    points: Sequence[tuple[float, float]]


def picture(
    title: str, across: Axis, up: Axis, series: Sequence[Series], *, joined: bool = True
) -> str:
    """The series as points, joined by lines if wanted, with their names on the right."""
    right = _WIDTH - 54 - _CHARACTER * max((len(each.name) for each in series), default=0)
    floor = _HEIGHT - _BOTTOM

    def x(value: float) -> float:
        return _LEFT + (right - _LEFT) * across.share(value)

    def y(value: float) -> float:
        return floor - (floor - _TOP) * up.share(value)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
        f"<title>{escape(title)}</title><style>{_STYLE}</style>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>',
        f'<text class="title" x="{_LEFT}" y="28">{escape(title)}</text>',
    ]
    for value, [label] in up.ticks:
        parts += [
            f'<path class="grid" d="M{_LEFT} {y(value):.1f}H{right}"/>',
            f'<text x="{_LEFT - 8}" y="{y(value) + 4:.1f}" text-anchor="end">{label}</text>',
        ]
    parts += [
        f'<text x="{x(value):.1f}" y="{floor + 20 + 16 * line}" text-anchor="middle">'
        f"{escape(label)}</text>"
        for value, labels in across.ticks
        for line, label in enumerate(labels)
    ]
    for place, each in enumerate(series):
        colour = _COLOURS[place % len(_COLOURS)]
        points = [(x(first), y(second)) for first, second in each.points]
        height = _TOP + 20 * place
        if joined:
            line = " ".join(f"{left:.1f},{top:.1f}" for left, top in points)
            parts.append(f'<polyline class="line" stroke="{colour}" points="{line}"/>')
        size = 3 if joined else 6
        parts += [
            *(
                f'<circle cx="{left:.1f}" cy="{top:.1f}" r="{size}" fill="{colour}"/>'
                for left, top in points
            ),
            f'<rect x="{right + 24}" y="{height - 9}" width="10" height="10" fill="{colour}"/>',
            f'<text x="{right + 40}" y="{height}">{escape(each.name)}</text>',
        ]
    return "\n".join([*parts, "</svg>"]) + "\n"
