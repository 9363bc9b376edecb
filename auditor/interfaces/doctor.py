"""What ``doctor`` finds out about this installation."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from auditor.errors import AuditError
from auditor.interfaces.options import Request

PACKAGES = ("click", "libcst", "networkx", "jinja2")
COLUMN = 11


def examine(request: Request) -> Iterator[str]:
    """Write a line for each thing found; what is missing is a line, too, not an error."""
    import auditor
    from auditor.source import cache_home

    yield from _rows("bufgate", [f"{auditor.__version__} in {Path(auditor.__file__).parent}"])
    yield from _rows("python", [f"{platform.python_version()} on {platform.platform(terse=True)}"])
    yield from _rows("packages", [", ".join(f"{name} {_version(name)}" for name in PACKAGES)])
    yield from _rows("rules", _packs(request))
    yield from _rows("cache", [_cache(cache_home())])


def _rows(name: str, values: Iterable[str]) -> Iterator[str]:
    for number, value in enumerate(values):
        yield (name if number == 0 else "").ljust(COLUMN) + value


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _packs(request: Request) -> Iterator[str]:
    from auditor.audit import recognise

    try:
        tree = request.open()
        found = recognise(tree, request.rules())
    except AuditError as error:
        yield f"could not be tried: {error}"
        return
    yield f"files below {tree.root}: {len(tree.files):,}"
    for name, origin, recognised, why in found:
        yield f"{name} ({origin}): {'recognised' if recognised else 'not recognised'}: {why}"
    if not any(recognised for _, _, recognised, _ in found):
        yield "no engine is recognised here; --engine PACK chooses one"


def _cache(folder: Path) -> str:
    try:
        releases = [entry.name for entry in (folder / "releases").iterdir() if not entry.name.startswith(".")]
    except FileNotFoundError:
        return f"{folder}: empty, nothing was fetched yet"
    except OSError as error:
        return f"{folder}: cannot be read: {error.strerror}"
    return f"{folder}: {len(releases)} fetched: {', '.join(sorted(releases)) or 'none'}"
