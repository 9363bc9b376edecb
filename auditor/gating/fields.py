"""Objects that a function makes and uses itself: what their attributes are, in the terms of that function.

``with LayerScope(pool, layer_id):`` waits for ``self.layer_id`` in ``__enter__``, which is the ``layer_id`` of the
``with``, for the constructor stores it and nobody else does.
"""

from __future__ import annotations

from auditor.callgraph import CallGraph, FrameKey, entered
from auditor.facts import Attr, Call, Enter, Exit, Param, SetAttr, Value
from auditor.gating.symbols import Layer, Path, layer_of, path_of
from auditor.gating.uses import users
from auditor.link import Code, Instance, Linker


class Fields:
    """Answers for frames."""

    def __init__(self, linker: Linker, graph: CallGraph) -> None:
        self._linker = linker
        self._graph = graph
        self._stored: dict[tuple[str, str], str] = {}

    def path(self, key: FrameKey, path: Path) -> Path:
        """A path, where it starts at an attribute of an object that is made here, without the object."""
        given = self._given(key, path)
        if given is None:
            return path
        start = path_of(self._graph.code(key).defined, given)
        return Path(start.root, start.names + path.names[1:])

    def layer(self, key: FrameKey, layer: Layer) -> Layer:
        """The same for all paths of a layer expression."""
        if not any(isinstance(atom, Path) and atom.names and atom.root[0] == "%" for atom, _ in layer.terms):
            return layer
        made = Layer((), layer.constant)
        for atom, factor in layer.terms:
            given = self._given(key, atom) if isinstance(atom, Path) else None
            moved = Layer(((atom, 1),))
            if isinstance(atom, Path) and given is not None:
                whole = len(atom.names) == 1
                moved = layer_of(self._graph.code(key).defined, given) if whole else _of(self.path(key, atom))
            for _ in range(abs(factor)):
                made = made.plus(moved, 1 if factor > 0 else -1)
        return Layer(made.terms, made.constant, layer.last, layer.every)

    def _given(self, key: FrameKey, path: Path) -> Value | None:
        """What the first attribute of a path was given to its object as, if that is made here."""
        if not path.names or not path.root[1:].isdigit():
            return None
        code = self._graph.code(key)
        call = code.defined.get(int(path.root[1:]))
        if not isinstance(call, Call) or not _is_used_here(code, call):
            return None
        made = [site for site in self._graph.calls[key] if site.value == call.dst]
        classes = {
            one.cls
            for one in self._linker.graph.points_to(self._graph.frames[key].node(call.dst))
            if isinstance(one, Instance)
        }
        constructor = self._graph.code(made[0].callee) if len(made) == len(classes) == 1 else None
        if constructor is None or constructor.facts.name != "__init__":
            return None
        return _argument(call, constructor, self._parameter(constructor, classes.pop(), path.names[0]))

    def _parameter(self, constructor: Code, cls: str, name: str) -> str:
        """The parameter of a constructor that an attribute of every object of the class is, as long as it lives; ""
        where it may be something else."""
        if (cls, name) not in self._stored:
            stores = [
                (code, number, code.defined.get(one.value))
                for method in self._methods(cls)
                if (code := self._linker.codes.get(method)) is not None
                for number, block in enumerate(code.facts.blocks)
                for one in block.instructions
                if isinstance(one, SetAttr) and one.name == name
            ]
            code, number, value = stores[0] if len(stores) == 1 else (constructor, -1, None)
            always = code is constructor and number == 0
            self._stored[cls, name] = value.name if always and isinstance(value, Param) else ""
        return self._stored[cls, name]

    def _methods(self, cls: str) -> frozenset[str]:
        applicable = self._linker.hierarchy.applicable(cls, self._linker.functions)
        return frozenset(method for methods in applicable.values() for method in methods)


def _is_used_here(code: Code, made: Call) -> bool:
    """Whether nobody else gets hold of an object, nor sets its attributes."""
    uses = (use.instruction for use in users(code.facts).get(made.dst, ()))
    return all(isinstance(entered(code, one) or one, Attr | Enter | Exit) for one in uses)


def _argument(call: Call, constructor: Code, name: str) -> Value | None:
    """What a call gives for a parameter of a constructor."""
    names = [one.name for one in constructor.facts.params if one.kind in ("posonly", "pos")][1:]
    if any(one.kind in ("*", "**") for one in call.arguments):
        return None
    positional = [one.value for one in call.arguments if one.kind == "pos"]
    given = dict(zip(names, positional, strict=False)) | {
        one.name: one.value for one in call.arguments if one.kind == "key"
    }
    return given.get(name)


def _of(path: Path) -> Layer:
    return Layer(((path, 1),))
