"""What is true of every module, whoever wrote it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted(file for package in ("auditor", "cuda_probe") for file in (ROOT / package).rglob("*.py"))
ROOMS = [file for file in MODULES if file.name == "__init__.py" or file.parent == ROOT / "auditor"]

SAY_NOTHING = {"utils", "util", "helpers", "helper", "manager", "managers", "common", "misc", "processor", "processors"}
"""Names that tell nobody what is inside (STYLE: words to avoid)."""


def name(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("file", ROOMS, ids=name)
def test_room_has_a_card(file: Path) -> None:
    """A room opens with its purpose in one sentence."""
    card = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
    assert card, "no docstring"
    assert card.split("\n\n")[0].rstrip().endswith((".", "?", "!")), "the first paragraph is no sentence"


@pytest.mark.parametrize("file", MODULES, ids=name)
def test_module_is_named_by_what_it_holds(file: Path) -> None:
    """No drawer for everything."""
    words = set(re.split(r"[_/.]", file.relative_to(ROOT).with_suffix("").as_posix()))
    assert not words & SAY_NOTHING


@pytest.mark.parametrize("file", MODULES, ids=name)
def test_nothing_audited_is_run(file: Path) -> None:
    """The static part never imports, executes or evaluates what it reads; the probe does, and is not part of it."""
    if file.is_relative_to(ROOT / "cuda_probe"):
        pytest.skip("the probe runs code by design")
    tree = ast.parse(file.read_text(encoding="utf-8"))
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not called & {"eval", "exec", "compile", "__import__"}
    assert not imported & {"runpy", "imp", "importlib.util", "importlib.machinery"}


@pytest.mark.parametrize("folder", ["rules", "reports"])
def test_data_folders_hold_no_python(folder: str) -> None:
    """Auditing an untrusted branch must not import its Python, so packs and templates have none."""
    assert not [name(file) for file in (ROOT / folder).rglob("*.py")]
