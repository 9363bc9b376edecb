"""A table: what `bufgate rules learn` finds of the packs that were written by hand, on real releases. Asserts nothing.

    python -m tests.learned [NAME==VERSION ...]

Both packs are compared by what their patterns match in the tree: classes of pool families, methods of those classes
that are accessors, calls that are gates, the names of a connector's hooks. The tree is read with the standard library;
nothing of the auditor but the two packs takes part. The miner never sees the pack that it is compared with.
"""

from __future__ import annotations

import ast
import functools
import re
import sys
import tempfile
from collections.abc import Iterator, Set
from pathlib import Path
from typing import NamedTuple

from auditor.errors import AuditError
from auditor.source import fetch_release
from auditor.spec import EngineSpec, find_pack, load_pack, matcher
from tests.corpus.candidates import is_product
from tests.cost import Cost, measured

RELEASES = (
    *("sglang==0.5.10.post1", "sglang==0.5.23", "vllm==0.33.0", "vllm-ascend==0.23.0", "lmcache==0.5.6"),
    *("aibrix-kvcache==0.8.0", "aphrodite-engine==0.24.1"),
)
WRITTEN = {"aibrix-kvcache": "aibrix"} | {name: name for name in ("lmcache", "sglang", "vllm", "vllm-ascend")}
"""The projects that have a pack that was written by hand, with its name."""
_CLASS = re.compile(rb"^[ \t]*class[ \t]+(\w+)[ \t]*(?:\(([^)]*)\))?[ \t]*:", re.MULTILINE)


class Learnt(NamedTuple):
    """How the command ended: the text of the pack ("" if none), what it cost, what it said."""

    text: str
    cost: Cost
    said: str


class Row(NamedTuple):
    """Of one kind: what only the pack that was written has, what both have, what only the learned one has."""

    kind: str
    missed: Set[str]
    found: Set[str]
    more: Set[str]

    @property
    def recall(self) -> float:
        written = len(self.missed) + len(self.found)
        return len(self.found) / written if written else 1.0

    @property
    def precision(self) -> float:
        learned = len(self.more) + len(self.found)
        return len(self.found) / learned if learned else 1.0


def main(wanted: list[str]) -> int:
    for requirement in wanted or RELEASES:
        try:
            root = fetch_release(requirement)
        except AuditError as error:
            print(f"{requirement}: {error}")
            continue
        learnt = learn(requirement)
        print(f"{requirement}: {learnt.cost}", flush=True)
        if not learnt.text:
            print(f"  nothing: {learnt.said}")
            continue
        spec = parsed(learnt.text)
        name = requirement.partition("==")[0]
        if name not in WRITTEN:
            print(
                f"  {sum(map(len, matched(root, spec).values()))} matched; no pack was written by hand to compare with"
            )
            continue
        for row in compared(root, find_pack(WRITTEN[name]), spec):
            counts = f"{len(row.found)} found, {len(row.missed)} missed, {len(row.more)} more"
            print(f"  {row.kind:10}{counts:34}recall {row.recall:4.0%}  precision {row.precision:4.0%}")
            for mark, names in (("-", row.missed), ("+", row.more)):
                for one in sorted(names):
                    print(f"      {mark} {one}")
    return 0


def learn(requirement: str) -> Learnt:
    """Run the command on a release, without what earlier runs kept, as one process."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "pack.toml")
        command = (sys.executable, "-P", "-m", "auditor", "rules", "learn", "--release", requirement, "-o", file)
        cost, said = measured(*command, "--jobs", "1", "--no-cache", "--quiet", cwd=Path(folder))
        text = file.read_text(encoding="utf-8") if file.is_file() else ""
    return Learnt(text, cost, said)


def parsed(text: str) -> EngineSpec:
    """Read a pack as a user would: from a file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "pack.toml")
        file.write_text(text, encoding="utf-8")
        return load_pack(file)


def compared(root: Path, written: EngineSpec, learned: EngineSpec) -> list[Row]:
    """Compare two packs by what they match, a row a kind that one of them has."""
    left, right = matched(root, written), matched(root, learned)
    rows = [Row(kind, left[kind] - right[kind], left[kind] & right[kind], right[kind] - left[kind]) for kind in left]
    return [row for row in rows if row.missed or row.found or row.more]


def matched(root: Path, spec: EngineSpec) -> dict[str, frozenset[str]]:
    """What a pack's patterns match in the product files of a tree."""
    pools = dict(_pools(root, spec))
    is_accessor = matcher(spec.accessors)
    methods = {f"{path} {cls}.{name}" for path, cls in pools.values() for name in _methods(root / path, cls)}
    hooks = spec.connectors
    named = {"root": hooks.roots, "wait": (hooks.wait,), "load": (hooks.load,), "offer": (hooks.offer,)}
    named |= {"absent": hooks.absent, "idle": hooks.idle}
    return {
        "pools": frozenset(pools),
        "accessors": frozenset(one for one in methods if is_accessor(one) is not None),
        "gates": frozenset(_gates(root, {(gate.method, gate.counter) for gate in spec.gates})),
        "hooks": frozenset(f"{kind} {name}" for kind, names in named.items() for name in names if name),
    }


# ---------------------------------------------------------------- the tree


@functools.cache
def _files(root: Path) -> dict[str, bytes]:
    paths = (file.relative_to(root).as_posix() for file in sorted(root.rglob("*.py")))
    return {path: (root / path).read_bytes() for path in paths if is_product(path)}


@functools.cache
def _classes(root: Path) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """Path, name and bare names of the bases of every class."""
    found = []
    for path, content in _files(root).items():
        for name, bases in _CLASS.findall(content):
            words = [one.split(b"=")[-1].split(b"[")[0].strip().rpartition(b".")[2] for one in bases.split(b",")]
            found.append((path, name.decode(), tuple(word.decode("ascii", "ignore") for word in words if word)))
    return tuple(found)


def _pools(root: Path, spec: EngineSpec) -> Iterator[tuple[str, tuple[str, str]]]:
    """The classes of a pool family: by the bare names of what they derive from."""
    bases: dict[str, set[str]] = {}
    for _, name, parents in _classes(root):
        bases.setdefault(name, set()).update(parents)
    is_pool, is_host, is_none = matcher(spec.pools), matcher(spec.host_side), matcher(spec.not_pools)
    for path, name, _ in _classes(root):
        line = _ancestors(name, bases)
        if any(is_pool(one) for one in line) and not any(is_host(one) for one in line) and not is_none(name):
            yield f"{path} {name}", (path, name)


def _ancestors(name: str, bases: dict[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    todo = [name]
    while todo:
        one = todo.pop()
        if one not in seen:
            seen.add(one)
            todo.extend(bases.get(one, ()))
    return seen


@functools.cache
def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_bytes())


def _methods(file: Path, cls: str) -> Iterator[str]:
    for node in ast.walk(_tree(file)):
        if isinstance(node, ast.ClassDef) and node.name == cls:
            yield from (one.name for one in node.body if isinstance(one, ast.FunctionDef))


def _gates(root: Path, pairs: set[tuple[str, str]]) -> Iterator[str]:
    """The calls ``….counter.method(…)``."""
    for path, content in _files(root).items():
        if any(f".{method}".encode() in content for method, _ in pairs):
            for node in ast.walk(_tree(root / path)):
                match node:
                    case ast.Call(func=ast.Attribute(attr=method, value=ast.Attribute(attr=counter), end_lineno=line)):
                        if (method, counter) in pairs:
                            yield f"{path}:{line} {counter}.{method}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
