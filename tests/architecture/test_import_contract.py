"""The rooms hold: the import contract of pyproject.toml is kept, and the contract that we wrote ourselves bites."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import grimp

from tests.front_doors import intrusions


def test_every_contract_is_kept(root: Path) -> None:
    """Same as `make imports`; the output names the intruder."""
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_front_doors_reports_an_import_of_an_inner_module() -> None:
    """Only a stranger is an intruder: rooms import their own modules, and everybody may come in by the front door."""
    graph = grimp.ImportGraph()
    for module in ("p.room", "p.room.inner", "p.room.other", "p.guest", "p.intruder"):
        graph.add_module(module)
    graph.add_import(importer="p.room", imported="p.room.inner")
    graph.add_import(importer="p.room.other", imported="p.room.inner")
    graph.add_import(importer="p.guest", imported="p.room")
    graph.add_import(
        importer="p.intruder", imported="p.room.inner", line_number=7, line_contents="from p.room.inner import x"
    )
    assert intrusions(graph, "p.room") == [("p.intruder", "p.room.inner", 7)]


def test_every_room_with_inner_modules_has_a_front_door(root: Path) -> None:
    """A package that is missing from the list of the front-doors contract would be open on all sides."""
    contracts = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (rooms,) = (contract["rooms"] for contract in contracts if contract["type"] == "front_doors")
    packages = {f"auditor.{file.parent.name}" for file in root.glob("auditor/*/__init__.py")}
    assert packages - {"auditor.interfaces"} <= set(rooms)
