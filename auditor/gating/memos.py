"""Waits that a memo skips: ``if layer not in self.waited: wait(layer); self.waited.add(layer)`` (DESIGN.md §2.6).

Where the memo knows a layer, the wait for it was made once. That is enough for the load at hand only if the memo is
*reset* with each load; else it may remember the wait for an earlier one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from auditor.callgraph import CallGraph, FrameKey
from auditor.dataflow import reaches
from auditor.facts import (
    NOTHING,
    Attr,
    Branch,
    Build,
    Call,
    Const,
    FunctionFacts,
    Instruction,
    Item,
    Name,
    Op,
    Phi,
    SetAttr,
    SetItem,
    Value,
)
from auditor.gating.storage import first_layers
from auditor.gating.symbols import Layer, Path, layer_of, path_of, without_first_layer
from auditor.gating.uses import called_name, users
from auditor.gating.values import Gate, Held, Place
from auditor.link import Code, Instance, Linker, successors

_FALSELY = "falsely"
"""A memo that another function tells of layers without a wait is none."""
_UNCLEAR = "unclear"
"""What another function does with the memo is not followed."""
_DEEPEST = 3
"""Calls down to a reset that are followed."""
_MEMOISES = frozenset({"lru_cache", "cache", "cached_property"})
"""Decorators of the library that run a function once for the same arguments."""
_PUTS = frozenset({"add", "append"})
_FORGETS = frozenset({"clear", "discard", "remove", "pop"})
_EMPTY = frozenset({"set", "dict", "list"})


class _Test(NamedTuple):
    """A branch on which ``memo`` is said to hold ``key``."""

    edge: tuple[int, int]
    memo: Value
    key: Layer | None


class _Put(NamedTuple):
    block: int
    position: int
    key: Layer | None


def is_memoised(function: FunctionFacts) -> bool:
    """Whether a decorator answers a call with what an earlier one gave, without running the function again."""
    return any(one.rpartition(".")[2] in _MEMOISES for one in function.decorators)


class Memos:
    """Answers for frames. ``signals``: methods that say that a layer has arrived; ``waiting``: functions that wait."""

    def __init__(self, linker: Linker, graph: CallGraph, signals: frozenset[str], waiting: frozenset[str]) -> None:
        self._first_layers = first_layers(linker)
        self._linker = linker
        self._graph = graph
        self._signals = signals
        self._waiting = waiting
        self._loading = frozenset(
            key for key, sites in graph.calls.items() if any(site.callee[0] in signals for site in sites)
        )
        self._beginning = graph.reaching(self._loading)
        self._stores: dict[str, tuple[tuple[Code, int, int, Instruction], ...]] = {}
        self._resets: dict[tuple[Instance, str, frozenset[FrameKey]], tuple[Place, ...]] = {}

    def known(self, key: FrameKey, at: Callable[[int, int], Held]) -> Mapping[tuple[int, int], Held]:
        """The gates that are held on the branches of a frame on which a memo knows the layer; ``at`` says what is held
        at a point where none is asked."""
        code = self._graph.code(key)
        found: dict[tuple[int, int], Held] = {}
        for test in _tests(code):
            gates = frozenset(self._gates(key, code, test, at))
            if gates:
                found[test.edge] = gates
        return found

    def _gates(self, key: FrameKey, code: Code, test: _Test, at: Callable[[int, int], Held]) -> Iterator[Gate]:
        """remembered(gate, test) ⇐ every put of the memo is of this key and behind the gate, which is one of the object
        whose memo it is and of this key. One told just before the wait may be told of a wait that failed: it is not
        known to be right."""
        memo = path_of(code.defined, test.memo)
        puts = list(_puts(code, memo))
        if not puts or any(put.key != test.key for put in puts):
            return
        owner = Path(memo.root, memo.names[:-1]) if memo.names else None
        before = frozenset.intersection(*(at(put.block, put.position) for put in puts))
        held = frozenset.intersection(*(at(put.block, len(code.facts.blocks[put.block].instructions)) for put in puts))
        gates = [
            gate
            for gate in held
            if isinstance(gate, Gate) and _is_own(owner, gate.through) and self._is_told_by(gate, test.key)
        ]
        others = self._others(code, memo) if gates else frozenset()
        if gates and _FALSELY not in others:
            resets = () if others or not before.issuperset(gates) else self._reset(key, code, test.memo, memo)
            yield from (replace(gate, memo=not resets, resets=resets) for gate in gates)

    def _is_told_by(self, gate: Gate, key: Layer | None) -> bool:
        """Whether a gate is for the layer that is the key; where a flag stands for all layers, for the last."""
        if gate.given or gate.only is not None or gate.memo:
            return False
        if key is None:
            return gate.layer.last
        return without_first_layer(gate.layer, self._first_layers) == without_first_layer(key, self._first_layers)

    # ------------------------------------------------------------ what else is done to it

    def _others(self, code: Code, memo: Path) -> frozenset[str]:
        """What the tree does with a memo besides asking it, making it forget and the puts of this function."""
        if not memo.names:
            made = code.defined.get(int(memo.root[1:])) if memo.root.startswith("%") else None
            uses = users(code.facts).get(made.dst, ()) if isinstance(made, Build | Call) else ()
            told = _is_empty(code, made) and all(_is_plain(use.instruction) for use in uses)
            return frozenset() if told else frozenset({_FALSELY})
        found: set[str] = set()
        for other, _, _, one in self._uses(memo.names[-1]):
            if _tells(other, one):
                if other is not code or _told(code, one) != memo:
                    found.add(_UNCLEAR if other.name in self._waiting and other is not code else _FALSELY)
            elif not isinstance(one, SetAttr) and not _is_plain(one):
                found.add(_UNCLEAR)
        return frozenset(found)

    def _uses(self, name: str) -> Iterable[tuple[Code, int, int, Instruction]]:
        """Every store of a name, and every use of a value that was read by it."""
        if name not in self._stores:
            self._stores[name] = tuple(self._find_uses(name))
        return self._stores[name]

    def _find_uses(self, name: str) -> Iterator[tuple[Code, int, int, Instruction]]:
        for code in self._linker.codes.values():
            read = [one.dst for one in code.defined.values() if isinstance(one, Attr | Name) and one.name == name]
            table = users(code.facts) if read else {}
            for value in read:
                yield from ((code, use.block, use.index, use.instruction) for use in table.get(value, ()))  # type: ignore[misc]
            for number, block in enumerate(code.facts.blocks):
                for index, one in enumerate(block.instructions):
                    if isinstance(one, SetAttr) and one.name == name:
                        yield code, number, index, one

    # ------------------------------------------------------------ resets

    def _reset(self, key: FrameKey, code: Code, value: Value, memo: Path) -> tuple[Place, ...]:
        """Where a memo is reset with each load; none if it is not."""
        if not memo.names:  # made anew each time that the function runs
            made = code.defined.get(value)
            at = getattr(made, "at", code.facts.at)
            return () if key in self._beginning else (Place(code.path, at.line, at.column, code.name),)
        one = code.defined[value]
        assert isinstance(one, Attr), "a path with names ends in an attribute"
        frame = self._graph.frames[key]
        owners = [key[1]] if key[1] is not None and one.base == 0 else []
        owners += [each for each in self._linker.view(frame, one.base, 0) if isinstance(each, Instance)]
        asking = self._graph.reaching([key])
        found = [self._reset_of(owner, one.name, asking) for owner in dict.fromkeys(owners)]
        return tuple(sorted({place for each in found for place in each})) if found and all(found) else ()

    def _reset_of(self, owner: Instance, name: str, asking: frozenset[FrameKey]) -> tuple[Place, ...]:
        """reset(owner) ⇐ every way to a signal, from where its function is called, goes by a reset of the memo of the
        owner, and who resets it runs where ``asking`` begins, the frames that come to ask it: a thread of its own would
        reset it too late."""
        known = owner, name, asking
        if known not in self._resets:
            self._resets[known] = tuple(self._find_resets(owner, name, asking))
        return self._resets[known]

    def _find_resets(self, owner: Instance, name: str, asking: frozenset[FrameKey]) -> list[Place]:
        found: dict[Place, None] = {}
        goals = [
            (key, site.block, site.index)
            for key in sorted(self._loading, key=repr)
            for site in self._graph.calls[key]
            if site.callee[0] in self._signals
        ]
        seen: set[FrameKey] = set()
        while goals:
            key, block, index = goals.pop()
            resets = self._resets_in(key, owner, name, 0)
            if self._is_behind(key, resets, block, index):
                if not self._is_run_by(key, asking):
                    return []
                found.update(dict.fromkeys(resets.values()))
            elif not self._is_called_only(key):
                return []
            elif key not in seen:
                seen.add(key)
                goals += [(caller, site.block, site.index) for caller, site in self._graph.callers[key]]
        return sorted(found)

    def _resets_in(self, key: FrameKey, owner: Instance, name: str, depth: int) -> Mapping[tuple[int, int], Place]:
        """The points of a frame at which the memo of an object is reset, here or in what is called."""
        frame = self._graph.frames[key]
        code = frame.code
        found: dict[tuple[int, int], Place] = {}
        for other, block, index, one in self._uses(name):
            made = code.facts.name == "__init__"  # once for each object, not for each load
            base = _reset_object(other, one) if other is code and not made else None
            if base is not None:
                objects = self._linker.view(frame, base, block)
                if owner in objects or (key[1] == owner and base == 0):
                    found[block, index] = _place(code, one)
        for site in self._graph.calls[key] if depth < _DEEPEST else ():
            inner = self._resets_in(site.callee, owner, name, depth + 1)
            ends = self._graph.code(site.callee).facts.blocks
            if inner and all(
                self._is_behind(site.callee, inner, number, len(block.instructions))
                for number, block in enumerate(ends)
                if not successors(block)
            ):
                found[site.block, site.index] = next(iter(inner.values()))
        return found

    def _is_behind(self, key: FrameKey, resets: Iterable[tuple[int, int]], block: int, index: int) -> bool:
        """Whether no way leads to a point of a frame but by one of its resets; nor from the point round to itself,
        except in the one loop that signals layer after layer."""
        first: dict[int, int] = {}
        for number, place in resets:
            first[number] = min(place, first.get(number, place))
        if block in first and first[block] < index:
            return True
        blocks = self._graph.code(key).facts.blocks
        ways = {number: successors(one) if number not in first else one.handlers for number, one in enumerate(blocks)}
        if block == 0 or reaches(ways, 0, block):
            return False
        around = [each for each in ways if reaches(ways, block, each) and reaches(ways, each, block)]
        heads = {target for each in around for target in ways[each] if target in around and target <= each}
        return len(heads) <= (key in self._loading)

    def _is_run_by(self, key: FrameKey, asking: frozenset[FrameKey]) -> bool:
        """Whether every way up from a frame comes to one of ``asking``, by calls alone."""
        seen, todo = {key}, [key]
        while todo:
            one = todo.pop()
            if one not in asking:
                if not self._is_called_only(one):
                    return False
                above = {caller for caller, _ in self._graph.callers[one]} - seen
                seen |= above
                todo += above
        return True

    def _is_called_only(self, key: FrameKey) -> bool:
        """Whether a function is called and never handed on as a value, as to a thread."""
        code = self._graph.code(key)
        nested = bool(code.facts.scope) and not code.owner
        calls = (
            isinstance(one, Call) and called_name(other, one) == code.facts.name
            for other, _, _, one in self._uses(code.facts.name)
        )
        return bool(self._graph.callers.get(key)) and not nested and all(calls)


def _tests(code: Code) -> Iterator[_Test]:
    for number, block in enumerate(code.facts.blocks):
        end = block.end
        if isinstance(end, Branch) and end.then != end.orelse:
            for side, target in ((True, end.then), (False, end.orelse)):
                asked = _asked(code, end.test, side=side)
                if asked is not None:
                    yield _Test((number, target), asked[0], _key(code, asked[1]))


def _asked(code: Code, test: Value, *, side: bool) -> tuple[Value, Value] | None:
    """The memo that a test, on this side, says to hold something, and what; NOTHING for a flag, which knows no
    layer."""
    match code.defined.get(test):
        case Op(operator="not", operands=(inner,)):
            return _asked(code, inner, side=not side)
        case Op(operator="in" | "not in" as operator, operands=(key, memo)):
            return (memo, key) if side == (operator == "in") else None
        case Op(operator="==" | "!=" as operator, operands=(left, right)) if side == (operator == "=="):
            pairs = ((left, right), (right, left))
            return next((pair for pair in pairs if isinstance(code.defined.get(pair[0]), Attr)), None)
        case Item(base=memo, index=key) if side:
            return memo, key
        case Attr() if side:
            return test, NOTHING
    return None


def _puts(code: Code, memo: Path) -> Iterator[_Put]:
    """Where a function puts something into a memo."""
    for number, block in enumerate(code.facts.blocks):
        for index, one in enumerate(block.instructions):
            if _is_put(code, one):
                target, key = _put(code, one)
                if target == memo:
                    yield _Put(number, index, key)


def _is_put(code: Code, one: object) -> bool:
    match one:
        case Call(func=func, arguments=(argument,)) if argument.kind == "pos":
            method = code.defined.get(func)
            return isinstance(method, Attr) and method.name in _PUTS
        case SetItem(value=value):
            return not _is_nothing(code, value)
        case SetAttr(value=value):
            return not _is_nothing(code, value)
    return False


def _put(code: Code, one: Instruction) -> tuple[Path, Layer | None]:
    match one:
        case Call(func=func, arguments=(argument,)):
            method = code.defined[func]
            assert isinstance(method, Attr), "puts are calls of methods"
            return path_of(code.defined, method.base), _key(code, argument.value)
        case SetItem(base=base, index=index):
            return path_of(code.defined, base), _key(code, index)
        case SetAttr(base=base, name=name, value=value):
            return path_of(code.defined, base).child(name), _key(code, value)
    raise AssertionError("no other instruction puts")


def _key(code: Code, value: Value) -> Layer | None:
    """What a memo is asked for or told; None of a flag, which knows no layer."""
    one = code.defined.get(value)
    flag = value == NOTHING or (isinstance(one, Const) and one.value is True)
    return None if flag else layer_of(code.defined, value)


def _tells(code: Code, one: Instruction) -> bool:
    """Whether a use of a memo puts something into it."""
    match one:
        case Attr(name=name):
            return name in _PUTS
        case SetItem(value=value) | SetAttr(value=value):
            return not _is_nothing(code, value)
    return False


def _told(code: Code, one: Instruction) -> Path:
    """The memo that it puts something into."""
    assert isinstance(one, Attr | SetItem | SetAttr), "no other instruction puts"
    path = path_of(code.defined, one.base)
    return path.child(one.name) if isinstance(one, SetAttr) else path


def _is_plain(one: object) -> bool:
    """Whether a use of a memo asks it, puts one thing into it, or makes it forget."""
    match one:
        case Op(operator="in" | "not in" | "==" | "!=" | "is" | "is not" | "not"):
            return True
        case Attr(name=name):
            return name in _PUTS | _FORGETS
        case Item() | SetItem() | Branch():
            return True
    return False


def _is_nothing(code: Code, value: Value) -> bool:
    """Whether a value says of no layer that it was waited for."""
    match code.defined.get(value):
        case Const(value=constant):
            return constant is None or constant is False or constant == -1
        case Op(operator="neg"):
            return True
        case Op(operator="*", operands=(elements, _)):
            return isinstance(code.defined.get(elements), Build) and _is_nothing(code, elements)
        case Phi(choices=choices):
            return all(choice < 0 or (choice != value and _is_nothing(code, choice)) for _, choice in choices)
        case Build(elements=elements):
            return all(element < 0 or _is_nothing(code, element) for element in elements)
        case one:
            return _is_empty(code, one)


def _is_empty(code: Code, one: object) -> bool:
    """Whether it makes an empty collection."""
    if isinstance(one, Build):
        return one.kind != "tuple" and not one.elements
    return isinstance(one, Call) and not one.arguments and called_name(code, one) in _EMPTY


def _reset_object(code: Code, one: Instruction) -> Value | None:
    """The object whose memo an instruction makes forget everything."""
    if isinstance(one, SetAttr):
        return one.base if _is_nothing(code, one.value) else None
    if isinstance(one, Attr) and one.name == "clear":
        memo = code.defined.get(one.base)
        return memo.base if isinstance(memo, Attr) else None
    return None


def _is_own(owner: Path | None, path: Path | None) -> bool:
    """Whether a path is that of the object whose memo it is, or of something in it; of a memo of one run (``owner``
    None) that of a parameter, which is one object throughout."""
    if path is None or owner is None:
        return path is not None and not path.root.startswith("%")
    return path.root == owner.root and path.names[: len(owner.names)] == owner.names


def _place(code: Code, one: Instruction) -> Place:
    at = getattr(one, "at", code.facts.at)
    return Place(code.path, at.line, at.column, code.name)
