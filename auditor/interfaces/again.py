"""bufgate started by bufgate: as a process of its own, with the code that runs here and none of the current folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import auditor


def command(*arguments: str) -> list[str]:
    """Return the command line."""
    return [sys.executable, "-P", "-m", "auditor", *arguments]


def environment() -> Mapping[str, str]:
    """Return the variables that it needs, and all that are here."""
    code = os.pathsep.join(filter(None, (str(Path(auditor.__file__).parents[1]), os.environ.get("PYTHONPATH"))))
    return os.environ | {"PYTHONPATH": code}
