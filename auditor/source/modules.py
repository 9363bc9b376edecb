"""Module names, told by package roots: the topmost folder with ``__init__.py`` among the parents of a file.

Folders without one between two packages are namespace packages and keep the chain. The chain ends at a project
folder (pyproject.toml or .git) that no package holds, below a ``src``/``python``/``lib`` folder around a package and
below a name that no import could spell.
The search goes on above the audited root, where it looks for the existence of those files and reads none.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache

_PROJECT_MARKS = ("pyproject.toml", ".git")
_SOURCE_FOLDERS = frozenset({"src", "python", "lib"})
_LONGEST_GAP = 4  # folders without __init__.py in a row; deeper namespace nesting was seen nowhere


_Has = Callable[[str, str], bool]
"""Whether a folder holds a name."""


class ModuleNames:
    """Names modules; remembers each folder, since thousands of files share few of them."""

    def __init__(self) -> None:
        self._tops: dict[str, str | None] = {}
        self._has = cache(_has)

    def name(self, file: str, root: str) -> str:
        """Return the dotted name of the absolute path ``file``; ``root`` serves where no package is found."""
        folder = os.path.dirname(file)
        if folder not in self._tops:
            self._tops[folder] = _package_top(folder, self._has)
        top = self._tops[folder]
        base = root if top is None else os.path.dirname(top)
        stem = below(file, base).replace(os.sep, "/").removesuffix(".py")
        return (stem.removesuffix("/__init__") if top else stem).replace("/", ".")


def below(file: str, folder: str) -> str:
    """Return the path of a file from a folder above it; ``os.path.relpath`` of two paths that need no cleaning."""
    return file[len(folder.rstrip(os.sep)) + 1 :]


def _package_top(folder: str, has: _Has) -> str | None:
    """The topmost package folder that ``folder`` lies in, or None."""
    top: str | None = None
    gap = 0
    while gap <= _LONGEST_GAP:
        packaged, parent = has(folder, "__init__.py"), os.path.dirname(folder)
        if not packaged and _ends_chain(folder, has, below_package=top is not None):
            break
        if not os.path.basename(folder).isidentifier():
            return folder if packaged and top is None and gap == 0 else top
        if packaged and _is_project(folder, has) and not has(parent, "__init__.py"):
            return top or folder  # an __init__.py beside pyproject.toml packages what lies directly there, no more
        top, gap = (folder, 0) if packaged else (top, gap + 1)
        folder = parent
    return top


def _ends_chain(folder: str, has: _Has, *, below_package: bool) -> bool:
    return (below_package and os.path.basename(folder) in _SOURCE_FOLDERS) or _is_project(folder, has)


def _is_project(folder: str, has: _Has) -> bool:
    return any(has(folder, mark) for mark in _PROJECT_MARKS)


def _has(folder: str, name: str) -> bool:
    return os.path.lexists(os.path.join(folder, name))
