"""What a function would have to wait for and how others of its class do it: all that a fix needs, in source terms.

Expressions are given as text of the function at hand (``layer.layer_id``, ``pool``), so that whoever writes the fix
needs to know nothing of layers and objects. What cannot be expressed is refused with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from auditor.callgraph import CallGraph
from auditor.facts import NOTHING, Attr, Bind, Call, Const, Delete, Param, Phi, Return, SetAttr, SetItem, Value
from auditor.gating.armed import Armed
from auditor.gating.held import instances
from auditor.gating.symbols import Derived, Layer, Path, layer_of, path_of, without_first_layer
from auditor.gating.values import Gate, Hop, Near, Need, Place
from auditor.link import Code, Frame, Instance, Linker


@dataclass(frozen=True, slots=True)
class Extent:
    """A function as a range of lines of a file (from its ``def``)."""

    function: str
    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """A method that waits, and the ``line`` of it that does. ``layer`` is the expression that it waits for ("": it
    needs none); ``alone`` whether it does nothing else and takes just that."""

    extent: Extent
    line: int
    receiver: str
    layer: str
    alone: bool


@dataclass(frozen=True, slots=True)
class Remedy:
    """``receiver`` should wait for ``layer`` ("": no expression here names it) before ``line`` of the function.
    ``at_start``: both expressions mean the same at the start of the function; ``here``: they do at the line, and below
    line ``after``. ``waits``: how methods of the receiver's class do it, the nearest first."""

    extent: Extent
    line: int
    receiver: str
    layer: str
    at_start: bool
    here: bool
    after: int
    waits: tuple[Waiting, ...]


@dataclass(frozen=True, slots=True)
class _Written:
    """An expression as text of a function, and where it means the same: ``here`` only below line ``after``."""

    text: str
    at_start: bool
    here: bool
    after: int = 0


class Remedies:
    """Answers for a step of a witness."""

    def __init__(
        self, linker: Linker, graph: CallGraph, armed: Armed, waits: Mapping[str, Gate], first_layers: frozenset[str]
    ) -> None:
        self._linker = linker
        self._graph = graph
        self._armed = armed
        self._waits = waits
        self._first_layers = first_layers

    def of(self, hop: Hop, need: Need, *, inside: bool) -> Remedy | str:
        """What would gate a read in the function of one step on the way to it, or why nothing that is written there
        can.

        ``inside``: the function is a method of the object that should wait. From outside, what the object is may rest
        on the branch of the read, so the start of the function is no place for it.
        """
        frame = self._graph.frames[hop.frame]
        code = frame.code
        if code.facts.kind != "function":
            return f"a {code.facts.kind} has no place for a statement"
        found = self._own(frame) if inside else self._held_by(frame, hop.place)
        if isinstance(found, str):
            return found
        receiver, classes = found
        read = next(
            (one.layer for one in need.hops if one.frame == hop.frame and one.layer and not one.layer.every), None
        )
        layer = self._layer(code, read, receiver.text) or _Written("", True, True)
        waits = tuple(self._waiting(classes, hop.place, need.near))
        if not waits:
            return f"no method of {_names(classes)} waits, so there is no way of waiting to follow"
        return Remedy(
            _extent(code),
            hop.place.line,
            receiver.text,
            layer.text,
            inside and receiver.at_start and layer.at_start,
            receiver.here and layer.here,
            max(receiver.after, layer.after),
            waits,
        )

    # ------------------------------------------------------------ who waits

    def _own(self, frame: Frame) -> tuple[_Written, frozenset[str]] | str:
        code, context = frame.code, frame.context
        if not code.owner or not code.facts.params:
            return "the function is not a method of the object that should wait"
        if context is None or self._armed.state(context).kind != "armed":
            return "its object has no counter to wait on when loads run: arm it, or wait where there is one"
        receiver = _written(code, Path(code.facts.params[0].name))
        assert receiver is not None, "a parameter has a name"
        return receiver, frozenset({code.owner})

    def _held_by(self, frame: Frame, place: Place) -> tuple[_Written, frozenset[str]] | str:
        """The object with a counter that the read goes through: the receiver, or what the receiver was got from."""
        code = frame.code
        for block, content in enumerate(code.facts.blocks):
            for one in content.instructions:
                if isinstance(one, Call | Attr) and one.at == (place.line, place.column):
                    for value in _bases(code, one):
                        armed = [each for each in instances(self._linker, frame, value, block) if self._is_armed(each)]
                        written = _written(code, path_of(code.defined, value)) if armed else None
                        if written is not None:
                            return written, frozenset(each.cls for each in armed)
        return "which name an object with a counter has in this function cannot be told"

    def _is_armed(self, one: Instance) -> bool:
        return self._linker.context_of(one) and self._armed.state(one).kind == "armed"

    # ------------------------------------------------------------ which layer

    def _layer(self, code: Code, layer: Layer | None, receiver: str) -> _Written | None:
        """The global layer as an expression; where an index was computed from a layer, that layer."""
        bare = without_first_layer(layer, self._first_layers) if layer is not None else Layer(every=True)
        if bare.every or len(bare.terms) != 1 or bare.terms[0][1] != 1 or bare.constant < 0:
            return None
        atom = bare.terms[0][0]
        path = _computed_from(code, atom, receiver) if isinstance(atom, Derived) else atom
        made = _written(code, path) if path is not None else None
        if made is None or not bare.constant:
            return made
        return replace(made, text=f"{made.text} + {bare.constant}")

    # ------------------------------------------------------------ how others wait

    def _waiting(self, classes: frozenset[str], place: Place, near: Iterable[Near]) -> Iterator[Waiting]:
        """Methods that every one of the classes has: those of the nearest class first, in it what does nothing but
        wait, then by lines. Among them are those that do not wait on every path."""
        mros = [self._linker.hierarchy.mro(cls) for cls in sorted(classes)]
        found = []
        others = [(name, gate) for name, gate in self._waits.items() if name != place.function]
        for name, gate in (*others, *((one.gate.chain[0].function, one.gate) for one in near if one.gate.chain)):
            cls, code = name.rpartition(".")[0], self._linker.codes.get(name)
            if code is None or not all(cls in mro for mro in mros):
                continue
            made = self._way(code, gate)
            if made is not None:
                distance = (mros[0].index(cls), not made.alone, abs(made.line - place.line), name)
                found.append((distance, made))
        for _, made in sorted(found, key=lambda one: one[0]):
            yield made

    def _way(self, code: Code, gate: Gate) -> Waiting | None:
        asked = gate.chain[0] if gate.chain else gate.place
        if asked.function != code.name or not code.facts.params:
            return None
        receiver = code.facts.params[0].name
        layer = "" if gate.layer.last else getattr(self._layer(code, gate.layer, receiver), "text", None)
        if layer is None:
            return None
        given = [one.name for one in code.facts.params[1:]]
        alone = given == ([layer] if layer else []) and _does_nothing_else(code)
        return Waiting(_extent(code), asked.line, receiver, layer, alone)


def _computed_from(code: Code, atom: Derived, receiver: str) -> Path | None:
    """The layer that an index was computed from; the index itself where it was computed from none."""
    own = [path for path in atom.sources if path.root != receiver]
    one = code.defined.get(int(atom.text[1:])) if atom.text[1:].isdigit() else None
    if isinstance(one, Phi):
        choices = (layer_of(code.defined, value).roots() for _, value in one.choices if value not in (NOTHING, one.dst))
        if not all({path for path in roots if path.root != receiver} == set(own) for roots in choices):
            return None  # on some path it is another layer
    if len(own) > 1:
        return None
    root, *names = atom.text.split(".")
    return own[0] if own else Path(root, tuple(names))


def _written(code: Code, path: Path) -> _Written | None:
    """A path as text: that of a parameter, a module's name or a local variable that is assigned once."""
    names = code.facts.names
    if path.root.startswith("%"):
        value = int(path.root[1:]) if path.root[1:].isdigit() else NOTHING
        root, at = names.get(value), getattr(code.defined.get(value), "at", None)
        if root is None or at is None or sum(name == root for name in names.values()) > 1:
            return None
        return _Written(".".join((root, *path.names)), False, True, at.line)
    root = path.root.removeprefix(":")
    if not root.isidentifier():
        return None
    parameter = [value for value, one in code.defined.items() if isinstance(one, Param) and one.name == root]
    moved = any(name == root and value not in parameter for value, name in names.items())
    return _Written(".".join((root, *path.names)), True, not moved)


def _does_nothing_else(code: Code) -> bool:
    """Whether a function makes one call, stores nothing and returns nothing."""
    facts = code.facts
    done = [one for block in facts.blocks for one in block.instructions]
    calls = sum(isinstance(one, Call) for one in done)
    stores = any(isinstance(one, SetAttr | SetItem | Bind | Delete) for one in done)
    ends = [code.defined.get(block.end.value) for block in facts.blocks if isinstance(block.end, Return)]
    nothing = all(one is None or (isinstance(one, Const) and one.value is None) for one in ends)
    return calls == 1 and not stores and nothing and not (facts.decorators or facts.is_async or facts.is_generator)


def _bases(code: Code, one: Call | Attr) -> Iterator[Value]:
    """What an instruction reads from, and what that was read from in turn."""
    func = code.defined.get(one.func) if isinstance(one, Call) else one
    while isinstance(func, Attr):
        yield func.base
        func = code.defined.get(func.base)


def _extent(code: Code) -> Extent:
    return Extent(code.name, code.path, code.facts.at.line, code.facts.end_line)


def _names(classes: frozenset[str]) -> str:
    return " or ".join(cls.rpartition(".")[2] for cls in sorted(classes))
