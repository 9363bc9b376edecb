"""Tables that make layer ids dense: ``{layer_id: i for i, layer_id in enumerate(ids)}`` (DESIGN.md §2.7).

What is looked up in one is the place of a layer among those of an inner pool. A loader that looks up what it signals
counts layers, not places: a wait for a place is then one for an earlier layer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from auditor.callgraph import CallGraph, FrameKey
from auditor.facts import Attr, Build, Call, Instruction, Item, Iterate, Phi, Return, SetAttr, SetItem, Unpack, Value
from auditor.gating.symbols import Derived, Layer
from auditor.gating.uses import called_name
from auditor.link import Code, Linker

_DEEPEST = 2
"""Calls that a lookup is followed into."""


class Tables:
    """Answers by the names of attributes. ``dense``: those that hold such a table; ``signalled``: those of them that a
    loader looks up with the layer that it signals by one of ``signals``."""

    def __init__(self, linker: Linker, graph: CallGraph, signals: frozenset[str]) -> None:
        self._graph = graph
        self.dense = dense_tables(linker)
        self.signalled = frozenset(
            name
            for key, sites in graph.calls.items()
            for site in sites
            if site.callee[0] in signals
            for name in _looked_up_with(graph.code(key), site.value)
        )

    def marked(self, key: FrameKey, layer: Layer) -> Layer:
        """A layer of a frame, each part that is looked up in a dense table with the name of the table."""
        if not self.dense or not layer.computed:
            return layer
        terms = []
        for atom, factor in layer.terms:
            number = atom.text.removeprefix("%") if isinstance(atom, Derived) and not atom.table else ""
            table = self._table(key, int(number), 0) if number.isdigit() else ""
            marked = replace(atom, table=table) if isinstance(atom, Derived) and table else atom
            terms.append((marked, factor))
        return replace(layer, terms=tuple(terms))

    def _table(self, key: FrameKey, value: Value, depth: int) -> str:
        code = self._graph.code(key)
        found = _looked_up(code, code.defined.get(value))
        if found is not None:
            return found[0] if found[0] in self.dense else ""
        names = {
            self._table(site.callee, block.end.value, depth + 1)
            for site in (self._graph.calls[key] if depth < _DEEPEST else ())
            if site.value == value
            for block in self._graph.code(site.callee).facts.blocks
            if isinstance(block.end, Return)
        }
        return names.pop() if len(names) == 1 else ""


def dense_tables(linker: Linker) -> frozenset[str]:
    """The names of attributes that hold such a table."""
    return frozenset(name for code in linker.codes.values() for name in _dense(code))


def _looked_up(code: Code, one: Instruction | None) -> tuple[str, Value] | None:
    """The attribute that is looked up, and with what."""
    base, index = None, -1
    match one:
        case Item():
            base, index = code.defined.get(one.base), one.index
        case Call(func=func, arguments=(argument, *_)) if called_name(code, one) == "get":
            method = code.defined.get(func)
            base, index = (code.defined.get(method.base) if isinstance(method, Attr) else None), argument.value
    return (base.name, index) if isinstance(base, Attr) else None


def _looked_up_with(code: Code, call: Value) -> Iterator[str]:
    """The attributes that a function looks up with an argument of a call."""
    one = code.defined.get(call)
    given = {argument.value for argument in one.arguments} if isinstance(one, Call) else set()
    for each in code.defined.values() if given else ():
        found = _looked_up(code, each) if isinstance(each, Item | Call) else None
        if found is not None and found[1] in given:
            yield found[0]


def _dense(code: Code) -> Iterator[str]:
    """The attributes that a function makes such tables."""
    stores = [one for block in code.facts.blocks for one in block.instructions if isinstance(one, SetAttr | SetItem)]
    for one in stores:
        if isinstance(one, SetAttr):
            made = code.defined.get(one.value)
            pairs = made.elements if isinstance(made, Build) and made.kind == "dict" and len(made.elements) == 2 else ()
            if pairs and _is_place_of(code, _element(code, pairs[1]), _element(code, pairs[0])):
                yield one.name
        else:
            table = code.defined.get(one.base)
            if isinstance(table, Attr) and _is_place_of(code, one.value, one.index):
                yield table.name


def _element(code: Code, value: Value) -> Value:
    """What an element of a comprehension is in a round of its loop."""
    one = code.defined.get(value)
    choices = [choice for _, choice in one.choices if choice >= 0] if isinstance(one, Phi) else [value]
    return choices[0] if len(choices) == 1 else value


def _is_place_of(code: Code, place: Value, element: Value) -> bool:
    """Whether a value is the number that ``enumerate`` gives an element."""
    one, other = code.defined.get(place), code.defined.get(element)
    if not isinstance(one, Unpack) or not isinstance(other, Unpack) or one.source != other.source:
        return False
    pair = code.defined.get(one.source)
    made = code.defined.get(pair.iterable) if isinstance(pair, Iterate) else None
    plain = isinstance(made, Call) and called_name(code, made) == "enumerate" and len(made.arguments) == 1
    return plain and (one.index, other.index) == (0, 1)
