"""Progress: silent at first, a bar on a terminal, plain lines elsewhere, gone at the end."""

from __future__ import annotations

import io

from auditor.interfaces.progress import CLEAR, Progress, bar, plain


class Clock:
    """A clock that a test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def told(*, interactive: bool, times: list[float], quiet: bool = False) -> str:
    clock, stream = Clock(), io.StringIO()
    with Progress(stream, interactive=interactive, quiet=quiet, clock=clock) as progress:
        for step, clock.now in enumerate(times):
            progress("extract", step, len(times))
    return stream.getvalue()


def test_a_short_run_is_silent() -> None:
    assert told(interactive=True, times=[0.1, 0.5, 0.9]) == ""
    assert told(interactive=False, times=[0.1, 0.9, 5.0, 9.9]) == ""


def test_a_terminal_gets_a_bar_that_is_cleared() -> None:
    written = told(interactive=True, times=[0.5, 1.0, 1.05, 2.0])
    assert written.count("extract") == 2
    assert "\n" not in written
    assert written.endswith(CLEAR)


def test_elsewhere_a_line_every_ten_seconds() -> None:
    written = told(interactive=False, times=[1.0, 10.0, 15.0, 21.0])
    assert written.splitlines() == ["bufgate: extract, 1 of 4, 10 s", "bufgate: extract, 3 of 4, 21 s"]


def test_quiet_is_quiet() -> None:
    assert told(interactive=True, times=[2.0, 20.0], quiet=True) == ""


def test_a_closed_stderr_does_not_end_the_run() -> None:
    stream = io.StringIO()
    stream.close()
    clock = Clock()
    with Progress(stream, interactive=True, clock=clock) as progress:
        clock.now = 5.0
        progress("link", 1, 2)


def test_numbers() -> None:
    assert bar("link", 6, 12, 3.2) == "link       [============            ] 6/12  3 s"
    assert bar("link", 6, 0, 3.2) == "link       [                        ] 6  3 s"
    assert plain("link", 1234, 0, 31.0) == "bufgate: link, 1,234, 31 s"
