"""The call graph by qualified names, contexts merged: what people and other tools read."""

from __future__ import annotations

from auditor.callgraph.graph import freeze
from auditor.link import Linker

_BUILTINS = "builtins."


def by_name(linker: Linker) -> dict[str, tuple[str, ...]]:
    """Caller → callees, for everything that runs: modules, class bodies, functions, lambdas; also without calls.

    What is called outside of the tree is there by its dotted name, a builtin as ``<builtin>.len``; what the result of
    an out-of-tree function is, and so what is called on it, is not known.
    """
    found: dict[str, set[str]] = {name: set() for name, _ in linker.frames}
    for (name, _), sites in freeze(linker).calls.items():
        found[name].update(site.callee[0] for site in sites)
    for (name, _), callees in linker.calls.items():
        found[name].update(callee for callee, _ in callees)
    for name, callee in linker.implicit:
        found[name].add(callee)
    for name, outside in linker.outside:
        if "()" not in outside:
            found[name].add(_spelled(outside))
    leaves = {callee for callees in found.values() for callee in callees} - found.keys()
    return {name: tuple(sorted(found.get(name, ()))) for name in sorted(found.keys() | leaves)}


def _spelled(outside: str) -> str:
    return f"<builtin>.{outside.removeprefix(_BUILTINS)}" if outside.startswith(_BUILTINS) else outside
