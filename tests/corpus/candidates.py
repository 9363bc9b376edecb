"""Candidates by name alone, with the standard library's ``ast``: nothing of the auditor takes part."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

FAMILIES = (
    "get_*buffer*",
    "mamba2_layer_*",
    "get_*_compress_states",
    "get_unified_kv*",
    "get_ngram_context",
    "copy_mamba_state",
    "short_conv_layer_*",
)
NOT_PRODUCT = frozenset({"test", "tests", "testing", "benchmark", "benchmarks", "examples", "third_party", "vendor"})


class Candidate(NamedTuple):
    path: str
    line: int
    name: str


def calls(root: Path, below: str, families: tuple[str, ...] = FAMILIES) -> list[Candidate]:
    """Return the calls of an accessor's name in the product files below a folder, in order."""
    found: set[Candidate] = set()
    for file in sorted((root / below).rglob("*.py")):
        path = file.relative_to(root).as_posix()
        if is_product(path):
            tree = ast.parse(file.read_bytes())
            found.update(Candidate(path, line, name) for line, name in _named(tree) if _fits(name, families))
    return sorted(found)


def methods(root: Path, path: str, cls: str) -> dict[str, ast.FunctionDef]:
    """Return the methods written in a class of a file."""
    tree = ast.parse((root / path).read_bytes())
    found = next(node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == cls)
    return {node.name: node for node in found.body if isinstance(node, ast.FunctionDef)}


def lines_calling(function: ast.FunctionDef, *names: str) -> set[int]:
    """Return the lines of the calls ``….NAME(…)`` in a function."""
    return {
        node.func.end_lineno or 0
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in names
    }


def _named(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """``….NAME(…)`` and ``getattr(…, "NAME")``, each with the line on which the name stands; of a method that is kept
    in a variable first, the lines on which the variable is called."""
    kept = {id(value): (target, name) for target, value, name in _kept(tree)}
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr=name, end_lineno=int(line))):
                yield line, name
            case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str(name), lineno=line), *_]):
                if id(node) not in kept:
                    yield line, name
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            names = dict(kept[id(node)] for node in ast.walk(function) if id(node) in kept)
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
                    yield node.func.lineno, names[node.func.id]


def _kept(tree: ast.Module) -> Iterator[tuple[str, ast.Call, str]]:
    """Of each ``x = getattr(…, "NAME")``: x, the call of getattr, NAME."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(
                targets=[ast.Name(id=target)],
                value=ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str(name)), *_]) as value,
            ):
                yield target, value, name


def _fits(name: str, families: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, family) for family in families)


def is_product(path: str) -> bool:
    *folders, name = path.split("/")
    return not NOT_PRODUCT.intersection(folders) and not name.startswith(("test_", "bench_", "benchmark_"))
