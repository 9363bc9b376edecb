"""The command as a process: what it imports, and how it ends when somebody stops it."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.render import sample

FAKE = [sys.executable, "-m", "tests.unit.interfaces.fake"]
HEAVY = (
    "libcst",
    "networkx",
    "jinja2",
    "multiprocessing",
    "concurrent.futures",
    "urllib.request",
    "sqlite3",
    "socket",
    "starlette",
    "uvicorn",
    "jwt",
)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with one file to audit."""
    (tmp_path / "m.py").write_text("x = 1\n")
    return tmp_path


def start(root: Path, *arguments: str, fake: str = "", **options: object) -> subprocess.Popen[str]:
    environment = {**os.environ, "FAKE": fake, "PYTHONPATH": str(root)}
    environment.pop("FORCE_COLOR", None)
    return subprocess.Popen(  # type: ignore[call-overload, no-any-return]
        [*FAKE, *arguments], cwd=root, env=environment, text=True, **{"stderr": subprocess.PIPE, **options}
    )


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["check", "--help"], ["graph", "--help"], ["serve", "--help"]]
)
def test_help_imports_nothing_heavy(root: Path, arguments: list[str]) -> None:
    code = (
        "import sys\n"
        "from auditor.interfaces.cli import main\n"
        f"try: main({arguments!r}, prog_name='bufgate')\n"
        "except SystemExit as end: assert end.code == 0, end.code\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


def test_python_dash_m(root: Path) -> None:
    command = [sys.executable, "-m", "auditor", "--version"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("bufgate ")


def test_stdout_is_the_report_alone(root: Path, place: Path) -> None:
    process = start(root, "check", str(place), "-o", "json", stdout=subprocess.PIPE)
    written, _ = process.communicate(timeout=60)
    assert written.startswith('{\n"schema": "report-v1"')
    assert process.returncode == 2


def test_interrupt_is_clean(root: Path, place: Path) -> None:
    """130, a word, no traceback, no file."""
    process = start(root, "check", str(place), "-o", f"json:{place / 'r.json'}", fake="interrupt")
    _, told = process.communicate(timeout=60)
    assert (process.returncode, told) == (130, "bufgate: interrupted\n")
    assert [path.name for path in place.iterdir()] == ["m.py"]


def test_a_reader_that_stops_reading_is_no_error(root: Path, place: Path) -> None:
    process = start(root, "check", str(place), fake="long", stdout=subprocess.PIPE)
    assert process.stdout
    assert process.stderr
    assert process.stdout.readline()
    process.stdout.close()
    assert process.wait(timeout=60) == 141
    assert process.stderr.read() == ""
    process.stderr.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_an_error(root: Path, place: Path) -> None:
    with open("/dev/full", "w") as full:
        process = start(root, "check", str(place), "--quiet", stdout=full)
        _, told = process.communicate(timeout=60)
    assert process.returncode == 2
    assert told == "bufgate: cannot write to stdout: No space left on device\n"


def test_a_locale_without_our_characters(root: Path, place: Path) -> None:
    """The path is drawn in ASCII escapes instead of failing."""
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONPATH": str(root)}
    done = subprocess.run([*FAKE, "check", str(place)], cwd=root, env=environment, capture_output=True, check=False)
    assert done.returncode == 2
    assert b"\\u2514\\u2500 " in done.stdout


def test_a_terminal_gets_colours_and_a_bar(root: Path, place: Path) -> None:
    """On a terminal: a bar on stderr after a second, cleared before the coloured report."""
    main_end, terminal = pty.openpty()
    process = start(root, "check", str(place), fake="slow", stdout=terminal, stderr=terminal)
    os.close(terminal)
    written = b""
    while True:
        try:
            part = os.read(main_end, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        written += part
    os.close(main_end)
    assert process.wait(timeout=60) == 2
    text = written.decode()
    assert "extract    [" in text
    assert text.index("\r\x1b[K\x1b[31m") > text.index("extract    [")
    assert sample.INDEXER in text
