"""Where the programs of a folder are started, told by how its files import one another."""

from __future__ import annotations

import re
import sys

from auditor.source import SourceTree

_ABSOLUTE = re.compile(rb"^[ \t]*(?:from|import)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)


def started_inside(tree: SourceTree) -> str:
    """The package name (with its dot) that modules of a tree must not begin with, or "".

    Python puts the folder of the program that it starts on the path. A tree that is a package, whose files import one
    another by names below it and never by its own, is such a folder.
    """
    package = f"{tree.root.name}."
    below = {tree.module(path).removeprefix(package).partition(".")[0] for path in tree.files}
    if any(not f"{tree.module(path)}.".startswith(package) for path in tree.files):
        return ""
    imported = {
        name.decode() for path in tree.files for name in _ABSOLUTE.findall(tree.read(path) or b"")
    } - sys.stdlib_module_names
    return package if tree.root.name not in imported and not imported.isdisjoint(below) else ""
