"""Makers: the code of a tree that makes objects of a class. Read, not executed."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ASKS = frozenset({"isinstance", "issubclass", "cast"})
"""Functions that name a class and make nothing of it."""


@dataclass(frozen=True, slots=True)
class Maker:
    """The code around a line: its module, the class (None: outside of any) and the outermost function ("": none)."""

    module: str
    class_: str | None
    function: str


def maker_at(place: str, root: Path) -> Maker | None:
    """Return the code around ``path:line`` of a tree; None where there is no such line of Python."""
    path, _, line = place.rpartition(":")
    file = root / path
    if not file.is_file() or not line.isdigit():
        return None
    around = [node for node in ast.walk(_parsed(file)) if _spans(node, int(line))]
    return _maker(file, root, around)


def makers_of(class_: str, files: Iterable[Path], root: Path) -> tuple[Maker, ...]:
    """Return the code that names a class as a value: not to import it, to extend it, or to ask for it."""
    found: dict[Maker, None] = {}
    for file in files:
        if class_.encode() not in file.read_bytes():
            continue
        for around in _naming(class_, _parsed(file), ()):
            found[_maker(file, root, around)] = None
    return tuple(found)


def _naming(class_: str, node: ast.AST, around: tuple[ast.AST, ...]) -> Iterator[tuple[ast.AST, ...]]:
    if isinstance(node, ast.Name) and node.id == class_ and isinstance(node.ctx, ast.Load):
        yield around
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "bases", "decorator_list") or isinstance(node, ast.Compare):
            continue
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ASKS:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _naming(class_, child, (*around, node))


def _maker(file: Path, root: Path, around: Iterable[ast.AST]) -> Maker:
    nodes = list(around)
    classes = [node.name for node in nodes if isinstance(node, ast.ClassDef)]
    functions = [node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    module = ".".join(file.relative_to(root).with_suffix("").parts)
    return Maker(module, classes[0] if classes else None, functions[0] if functions else "")


def _parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def _spans(node: ast.AST, line: int) -> bool:
    first, last = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
    return first is not None and last is not None and first <= line <= last
