"""The call graph as text: JSON (``{caller: [callees]}``), DOT and GraphML; and the slice of it that reaches a name."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping

from auditor.render.plain import clean

CallGraph = Mapping[str, tuple[str, ...]]


def to_json(graph: CallGraph) -> str:
    """Write ``{caller: [callees]}``, sorted."""
    rows = [f"{json.dumps(caller)}: {json.dumps(sorted(graph[caller]))}" for caller in sorted(graph)]
    return "{\n" + ",\n".join(rows) + "\n}\n" if rows else "{}\n"


def to_dot(graph: CallGraph) -> str:
    """Write a Graphviz digraph."""
    nodes = [f"  {_quoted(node)};" for node in _nodes(graph)]
    edges = [f"  {_quoted(caller)} -> {_quoted(callee)};" for caller, callee in _edges(graph)]
    return "\n".join(["digraph calls {", "  rankdir=LR; node [shape=box];", *nodes, *edges, "}"]) + "\n"


def to_graphml(graph: CallGraph) -> str:
    """Write GraphML; a node's id is its qualified name."""
    from xml.sax.saxutils import escape, quoteattr  # imports a whole HTTP client

    nodes = [f"    <node id={quoteattr(clean(node))}/>" for node in _nodes(graph)]
    edges = [
        f"    <edge source={quoteattr(clean(caller))} target={quoteattr(clean(callee))}/>"
        for caller, callee in _edges(graph)
    ]
    head = ['<?xml version="1.0" encoding="UTF-8"?>', f"<graphml xmlns={quoteattr(escape(_NAMESPACE))}>"]
    return "\n".join([*head, '  <graph edgedefault="directed">', *nodes, *edges, "  </graph>", "</graphml>"]) + "\n"


_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"


def callers_of(graph: CallGraph, name: str) -> CallGraph:
    """Return the part of the graph whose functions reach a function called ``name`` (its last part, or all of it)."""
    callers: dict[str, list[str]] = defaultdict(list)
    for caller, callee in _edges(graph):
        callers[callee].append(caller)
    todo = [node for node in _nodes(graph) if node == name or node.rpartition(".")[2] == name]
    reached = set(todo)
    while todo:
        fresh = set(callers[todo.pop()]) - reached
        reached |= fresh
        todo.extend(fresh)
    return {node: tuple(sorted(set(graph.get(node, ())) & reached)) for node in sorted(reached)}


def _nodes(graph: CallGraph) -> list[str]:
    return sorted({*graph, *(callee for callees in graph.values() for callee in callees)})


def _edges(graph: CallGraph) -> Iterable[tuple[str, str]]:
    return ((caller, callee) for caller in sorted(graph) for callee in sorted(graph[caller]))


def _quoted(name: str) -> str:
    return '"' + clean(name).replace("\\", "\\\\").replace('"', '\\"') + '"'
