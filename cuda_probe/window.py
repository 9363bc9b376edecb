"""The window of a race: how often a read is stale, against how long a load takes and how much it loads.

On the simulated device, under schedules with a clock (``sim.timed``): the rates say how a race gets rare, not how
rare it is on some GPU. The verdict of a race needs none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from cuda_probe.sim import Schedule, Timed, Window
from cuda_probe.trial import Outcome

DELAYS = (0.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
"""Microseconds before each copy of the load."""
SIZES = (1 << 10, 16 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20)
"""Bytes of the buffers of one layer."""
TRIALS = 10
BANDWIDTH = 50_000.0
"""Bytes a microsecond: 50 GB/s, about what PCIe 5.0 gives one direction."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Trials with one delay (microseconds) and one size (bytes): in how many wrong bytes were read, in how many of
    these some bytes were right."""

    delay: float
    size: int
    trials: int
    stale: int
    torn: int


def swept(
    real_size: int,
    attempt: Callable[[Schedule], Outcome],
    delays: Sequence[float] = DELAYS,
    sizes: Sequence[int] = SIZES,
    trials: int = TRIALS,
) -> list[Cell]:
    """Run an experiment under every delay and size. ``real_size``: bytes that its buffers have."""
    cells = []
    for size in sizes:
        for delay in delays:
            window = Window(delay, BANDWIDTH, size / real_size)
            outcomes = [attempt(Timed(seed, window)) for seed in range(trials)]
            stale = sum(outcome.wrong > 0 for outcome in outcomes)
            cells.append(Cell(delay, size, trials, stale, sum(outcome.torn for outcome in outcomes)))
    return cells


def table(cells: Sequence[Cell]) -> str:
    """Return a line a size, a column a delay, with the share of stale reads in percent."""
    delays = sorted({cell.delay for cell in cells})
    lines = [f"{'bytes':>10}" + "".join(f"{delay:>8g}us" for delay in delays)]
    for size in sorted({cell.size for cell in cells}):
        row = {cell.delay: cell for cell in cells if cell.size == size}
        lines.append(f"{_bytes(size):>10}" + "".join(f"{_percent(row[delay]):>9}%" for delay in delays))
    return "\n".join(lines) + "\n"


LEFT, TOP, WIDE, HIGH = 90, 56, 64, 34


def picture(title: str, cells: Sequence[Cell]) -> str:
    """Return the same as SVG: the darker, the more reads are stale."""
    delays, sizes = sorted({cell.delay for cell in cells}), sorted({cell.size for cell in cells}, reverse=True)
    width, height = LEFT + WIDE * len(delays) + 12, TOP + HIGH * len(sizes) + 46
    parts = [
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'xmlns="http://www.w3.org/2000/svg" font-family="system-ui, sans-serif" font-size="12">'
        f"<title>{escape(title)}</title>"
        f'<rect width="{width}" height="{height}" fill="#fff"/>'
        f'<text x="8" y="20" font-size="14">{escape(title)}</text>'
        '<text x="8" y="40" fill="#555">stale reads in percent, simulated device with a clock</text>'
    ]
    for cell in cells:
        x, y = LEFT + WIDE * delays.index(cell.delay), TOP + HIGH * sizes.index(cell.size)
        share = cell.stale / cell.trials
        ink = "#fff" if share > 0.5 else "#1d2430"
        parts.append(
            f"<g><title>{cell.stale} of {cell.trials} stale, {cell.torn} torn</title>"
            f'<rect x="{x}" y="{y}" width="{WIDE - 2}" height="{HIGH - 2}" rx="3" fill="#c4262e" '
            f'fill-opacity="{0.06 + 0.94 * share:.2f}"/>'
            f'<text x="{x + WIDE / 2 - 1}" y="{y + 21}" text-anchor="middle" fill="{ink}">{_percent(cell)}</text></g>'
        )
    for size in sizes:
        y = TOP + HIGH * sizes.index(size) + 21
        parts.append(f'<text x="{LEFT - 8}" y="{y}" text-anchor="end" fill="#1d2430">{_bytes(size)}</text>')
    for delay in delays:
        middle = LEFT + WIDE * delays.index(delay) + WIDE / 2 - 1
        parts.append(f'<text x="{middle}" y="{height - 28}" text-anchor="middle" fill="#1d2430">{delay:g}</text>')
    parts.append(f'<text x="{LEFT}" y="{height - 8}" fill="#555">delay of each copy in microseconds</text></svg>')
    return "".join(parts) + "\n"


def _percent(cell: Cell) -> int:
    return round(100 * cell.stale / cell.trials)


def _bytes(size: int) -> str:
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"
