"""Where a handle goes inside a function: through aliases, views and calls to the uses that read elements, and to those
that read only shape, address or name (DESIGN.md §2.11)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TypeAlias

from auditor.callgraph import CallGraph, CallSite, FrameKey, entered, wraps
from auditor.dataflow import reaches
from auditor.facts import (
    NOTHING,
    Attr,
    Await,
    Bind,
    Branch,
    Build,
    Call,
    Closure,
    Const,
    Declare,
    Enter,
    FunctionFacts,
    Instruction,
    Item,
    Iterate,
    Name,
    Op,
    Opaque,
    Param,
    Phi,
    Return,
    SetAttr,
    SetItem,
    Unpack,
    Value,
    Yield,
)
from auditor.gating.held import HeldGates, arguments_of
from auditor.gating.storage import Storage
from auditor.gating.symbols import EVERY, OWN, Derived, Layer, layer_of
from auditor.gating.uses import (
    ALIAS_CALLS,
    COLLECTIVES,
    METADATA_CALLS,
    NULL_TESTS,
    READS,
    User,
    called_name,
    is_number,
    users,
)
from auditor.gating.values import ANYWHERE, ESCAPES, PACKS, Buffer, Handle, Held, defined_at, put_into
from auditor.link import ClassObject, Code, Instance, Linker
from auditor.scales import CONFIDENCES
from auditor.spec import EngineSpec

Step: TypeAlias = tuple[str, Value, Handle]
"""A kind of use, with the value and the handle that go on where the kind is ``alias``."""


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a handle. ``kind``: element, escape, returned, or why it needs no gate: metadata, address, store."""

    kind: str
    block: int
    index: int
    line: int
    column: int
    what: str
    value: Value

    def instruction(self, code: Code) -> Instruction | None:
        """The instruction that uses it; None where what ends the block does."""
        block = code.facts.blocks[self.block].instructions
        return block[self.index] if self.index < len(block) else None


class Tracer:
    """Follows handles; knows the call graph and the pack's tables of tensor attributes and kernels.

    ``cover`` puts a handle behind the gate that covers it, if one of those does that are held where it goes on to be
    read later: at a join of paths, or in a list.
    """

    def __init__(
        self,
        linker: Linker,
        graph: CallGraph,
        spec: EngineSpec,
        storage: Storage,
        held: HeldGates,
        cover: Callable[[Handle, Held], Handle],
    ) -> None:
        self._linker = linker
        self._storage = storage
        self._graph = graph
        self._held = held
        self._cover = cover
        self._table = spec.uses
        self._kernels = spec.kernels
        self._stored: dict[str, frozenset[str | int]] = {}
        self._users: dict[str, Mapping[Value, tuple[User, ...]]] = {}
        self._confidences: dict[tuple[str, str], str] = {}
        self._parameter_kinds: dict[tuple[str, str], frozenset[str]] = {}

    def trace(self, key: FrameKey, value: Value, handle: Handle) -> Iterator[tuple[Use, Handle]]:
        """Every use of ``value``, with the handle as it is there."""
        code = self._graph.code(key)
        table = self.users(code)
        seen: set[tuple[Value, bool, tuple[int, ...]]] = set()
        todo = [(value, handle)]
        while todo:
            current, now = todo.pop()
            if (current, now.selected, now.inside) in seen:
                continue
            seen.add((current, now.selected, now.inside))
            for user in table.get(current, ()):
                for kind, target, then in self._use(key, code, current, user, now):
                    if kind == "alias":
                        todo.append((target, then))
                    else:
                        what = PACKS if kind == "packed" else _describe(code, user.instruction)
                        for place in self._captured(code, user):
                            at = getattr(place.instruction, "at", code.facts.at)
                            yield Use(kind, place.block, place.index, at.line, at.column, what, current), now

    def _captured(self, code: Code, user: User) -> list[User]:
        """Where a use begins: of a variable that nested functions read, where these are made, if that is always later
        than where it is bound; none of them runs before."""
        if not isinstance(user.instruction, Bind) or not user.instruction.scope:
            return [user]
        made = [
            User(number, index, one)
            for number, block in enumerate(code.facts.blocks)
            for index, one in enumerate(block.instructions)
            if isinstance(one, Closure) and self._reads_name(code.module, one.function, user.instruction.name)
        ]
        flow = code.flow.successors
        return made if made and all(_is_later(flow, user, one) for one in made) else [user]

    def _reads_name(self, module: str, function: str, name: str) -> bool:
        """Whether a function, or one inside it, may read a variable of the function around it."""
        code = self._linker.codes.get(f"{module}.{function}")
        return code is None or any(
            (isinstance(one, Name) and one.name == name)
            or (isinstance(one, Closure) and self._reads_name(module, one.function, name))
            for one in code.defined.values()
        )

    def confidence(self, key: FrameKey, use: Use) -> str:
        """``low`` where the storage goes to a call nobody can look into and whose result is thrown away: it may only
        write."""
        code = self._graph.code(key)
        one = use.instruction(code)
        if not isinstance(one, Call) or _is_kernel(code):
            return "high"
        sites = [site for site in self._graph.calls[key] if site.value == one.dst]
        if not sites and called_name(code, one) in {*self._table.stores, *READS, *COLLECTIVES}:
            return "high"  # what is copied from, sent or computed with
        if not sites:
            return "medium" if one.dst in self.users(code) else "low"
        inside = [
            self._confidence_inside(site.callee, name)
            for site in self._inner(sites)
            for name, given in arguments_of(code, one, self._graph.code(site.callee).facts, implicit=False).items()
            if given == use.value
        ]
        return min(inside, key=CONFIDENCES.index, default="high")

    def _confidence_inside(self, callee: FrameKey, name: str) -> str:
        """The most that a callee's reads of a parameter are sure of."""
        memo = (callee[0], name)
        if memo not in self._confidences:
            self._confidences[memo] = "low"  # a recursive call is not surer than the call that is looked into
            uses = [use for use, _ in self._uses_of(callee, name) if use.kind in ("element", "escape")]
            found = [self.confidence(callee, use) for use in uses]
            self._confidences[memo] = min(found, key=CONFIDENCES.index, default="high")
        return self._confidences[memo]

    def users(self, code: Code) -> Mapping[Value, tuple[User, ...]]:
        known = self._users.get(code.name)
        if known is None:
            known = self._users[code.name] = users(code.facts)
        return known

    def _use(self, key: FrameKey, code: Code, value: Value, user: User, handle: Handle) -> Iterable[Step]:
        one = user.instruction
        match one:
            case Attr() if isinstance(code.defined.get(value), Build):
                return [] if one.name in _PUTS else [("alias", call.dst, handle) for call in self._calls(code, one)]
            case Attr():
                return self._attribute(code, one, handle)
            case Iterate() | Op() if _is_namespace(code, value):
                return [("metadata", NOTHING, handle)]  # names
            case Item() if one.base == value and handle.inside:
                return _taken_out(one.dst, _constant(code, one.index), handle)
            case Item():
                return self._subscript(code, one, value, handle)
            case Enter() if handle.inside:  # what a generator hands out to the with block
                return _taken_out(one.dst, ANYWHERE, handle)
            case Call() if handle.inside and (begun := entered(code, one)) is not None and begun.manager == value:
                return _taken_out(one.dst, ANYWHERE, handle)
            case Call():
                container = _put_into(code, one)
                if container is not None:
                    held = self._held.state(key).at(user.block, user.index)
                    inside = put_into(handle, ANYWHERE) if _appends(code, one) else handle
                    return [("alias", container, self._cover(inside, held))]
                return self._argument(key, code, one, value, handle)
            case Op():
                return self._operator(code, one, handle)
            case SetItem() if one.base == value:
                return [("store", NOTHING, handle)]
            case SetItem() | SetAttr() if one.value == value:
                return [("escape", NOTHING, handle)]
            case Bind():
                return [("packed" if one.scope else "escape", NOTHING, handle)]
            case Phi():
                return [("alias", one.dst, self._joined(key, one, user.block, value, handle))]
            case Declare() | Await():
                return [("alias", one.dst, handle)]
            case Build():
                return _put_in_order(one, value, handle)
            case Unpack(index=place) if not handle.inside and (counted := _counted(code, one.source)) is not None:
                layer = _count(code, one.source, 0, self.users(code).get(one.source, ()))
                layer = layer if _is_in_order(code, counted) else handle.layer
                return [("alias", one.dst, replace(handle, layer=layer))] if place == 1 else []
            case Unpack(index=place) if handle.inside:
                return _taken_out(one.dst, place, self._picked(code, one.source, place, handle))
            case Unpack():
                return [("alias", one.dst, handle)]
            case Iterate() if handle.inside:
                return _taken_out(one.dst, ANYWHERE, handle)
            case Iterate():
                layer = Layer(((Derived(f"%{one.dst}", ()), 1),))
                return [("alias", one.dst, handle if handle.selected else replace(handle, layer=layer, selected=True))]
            case Return() | Yield(delegate=True):
                return [("returned", NOTHING, handle)]
            case Yield():
                return [("yielded", NOTHING, handle)]
            case Branch():
                return [("metadata", NOTHING, handle)]
        return []

    def _picked(self, code: Code, elements: Value, place: int, handle: Handle) -> Handle:
        """A list that ``zip`` goes through, as one element: of the layer that ``range(n)`` beside it counts."""
        one = code.defined.get(elements)
        made = code.defined.get(one.iterable) if isinstance(one, Iterate) else None
        if handle.selected or not isinstance(made, Call) or called_name(code, made) != "zip":
            return handle
        in_order = place < len(made.arguments) and _is_in_order(code, made.arguments[place].value)
        numbers = (number for number, each in enumerate(made.arguments) if in_order and _counts_up(code, each.value))
        layer = _count(code, elements, next(numbers, NOTHING), self.users(code).get(elements, ()))
        return replace(handle, layer=layer, selected=True)

    def _joined(self, key: FrameKey, one: Phi, join: int, value: Value, handle: Handle) -> Handle:
        """A handle behind a join: behind a gate if it is so on each of the paths that it comes by."""
        edges = [self._held.along(key, block, join) for block, choice in one.choices if choice == value]
        arrived = [self._cover(handle, held) for held in edges]
        return next((each for each in arrived if each.gate is None), arrived[0])

    def _operator(self, code: Code, one: Op, handle: Handle) -> Iterable[Step]:
        spread = len(one.operands) == 1 and one.operator == "*"
        joined = not handle.selected and one.operator == "+"
        if spread or joined or _is_kernel(code):
            return [("alias", one.dst, handle)]
        metadata = one.operator in NULL_TESTS or _against_none(code, one)
        return [("metadata" if metadata else "element", NOTHING, handle)]

    def _attribute(self, code: Code, one: Attr, handle: Handle) -> Iterable[Step]:
        calls = self._calls(code, one)
        if one.name in self._table.metadata:
            return [("metadata", NOTHING, handle)]
        if one.name in self._table.address:
            return [("address", NOTHING, handle)]
        if one.name in self._table.stores:
            return [("store", NOTHING, handle)]
        if one.name in self._table.views or self._is_precaution(code, one):
            targets = [call.dst for call in calls] or [one.dst]
            return [("alias", target, handle) for target in targets]
        if not handle.selected and one.name in ("append", "extend", "clear", "insert"):
            return [("metadata", NOTHING, handle)]
        if not handle.selected and one.name == "items":
            pairs = put_into(handle, 1, ANYWHERE)  # (name, what is stored under it)
            return [("alias", call.dst, pairs) for call in calls]
        if not handle.selected and not calls and self._storage.leaves_behind(handle.buffer.name, one.name):
            return [("not-loaded", NOTHING, handle)]
        if not handle.selected and one.name not in READS:
            return list(_part(code, one, calls, handle))
        return [("element", NOTHING, handle)]

    def _is_precaution(self, code: Code, one: Attr) -> bool:
        """Whether it is the ``x.contiguous()`` of ``if not x.is_contiguous()``: rows of a pool are contiguous."""
        if one.name != "contiguous":
            return False
        others = (user.instruction for user in self.users(code).get(one.base, ()))
        return any(isinstance(each, Attr) and each.name == "is_contiguous" for each in others)

    def _calls(self, code: Code, one: Attr) -> list[Call]:
        """The calls of an attribute."""
        table = self.users(code).get(one.dst, ())
        return [
            user.instruction
            for user in table
            if isinstance(user.instruction, Call) and user.instruction.func == one.dst
        ]

    def _subscript(self, code: Code, one: Item, value: Value, handle: Handle) -> Iterable[Step]:
        if one.base != value:
            return [("element", NOTHING, handle)]
        if not handle.selected:
            index = code.defined.get(one.index)
            if isinstance(index, Build) and index.kind == "slice":
                return [("alias", one.dst, handle)]
            layer = OWN if handle.layer == OWN else layer_of(code.defined, one.index)
            return [("alias", one.dst, replace(handle, layer=layer, selected=True))]
        return [("alias", one.dst, handle)] if _is_view_index(code, one.index) else self._gather(code, one, handle)

    def _gather(self, code: Code, one: Item, handle: Handle) -> Iterable[Step]:
        """``buf[slots]``: a store if only assigned into, else a read."""
        table = [user.instruction for user in self.users(code).get(one.dst, ())]
        if table and all(isinstance(each, SetItem) and each.base == one.dst for each in table):
            return [("store", NOTHING, handle)]
        names = {each.name for each in table if isinstance(each, Attr)}
        if table and all(isinstance(each, Attr) for each in table):
            if names <= set(self._table.metadata):
                return [("metadata", NOTHING, handle)]
            if names <= set(self._table.address) | set(self._table.stores) | set(self._table.metadata):
                return [("address" if names & set(self._table.address) else "store", NOTHING, handle)]
        return [("element", NOTHING, handle)]

    # ------------------------------------------------------------ calls

    def _argument(self, key: FrameKey, code: Code, one: Call, value: Value, handle: Handle) -> Iterable[Step]:
        name = called_name(code, one)
        if _is_kernel(code) and name in ("load", "store", "atomic_add"):
            stored = name == "store" and one.arguments and one.arguments[0].value == value
            return [("store" if stored else "element", NOTHING, handle)]
        if name in METADATA_CALLS or name.endswith("_like"):
            return [("metadata", NOTHING, handle)]
        if name == "zip":
            places = (place for place, argument in enumerate(one.arguments) if argument.value == value)
            return [("alias", one.dst, put_into(handle, place, ANYWHERE)) for place in places]
        if name in ALIAS_CALLS:
            return [("alias", one.dst, handle)]
        stored_to = self._stored_to(name)
        found: list[Step] = []
        for position, argument in enumerate(one.arguments):
            if argument.value != value:
                continue
            if not stored_to.isdisjoint((argument.name, position, "*")):
                found.append(("store", NOTHING, handle))
                continue
            kinds = sorted(self._argument_kinds(key, code, one, value))
            found.extend(
                ("alias", one.dst, handle) if kind == "returned" else (kind, NOTHING, handle) for kind in kinds
            )
        return found

    def _stored_to(self, name: str) -> frozenset[str | int]:
        """The parameters that functions of this name only store to, by the pack."""
        if name not in self._stored:
            told = (one.stores for one in self._kernels if fnmatchcase(name, one.name))
            self._stored[name] = frozenset().union(*told)
        return self._stored[name]

    def _argument_kinds(self, key: FrameKey, code: Code, one: Call, value: Value) -> frozenset[str]:
        """What the callees do with an argument; what nobody can look into reads it."""
        sites = [site for site in self._graph.calls[key] if site.value == one.dst and not site.implicit]
        if not sites:
            return frozenset({"packed" if self._makes_record(key, one) else "element"})
        return frozenset().union(*(self._parameter(site.callee, code, one, value) for site in self._inner(sites)))

    def _inner(self, sites: Sequence[CallSite]) -> list[CallSite]:
        """Call sites without those of wrappers, which hand on what they get to the function that they stand for."""
        facts = [self._graph.code(site.callee).facts for site in sites]
        return [
            site
            for site, wrapper in zip(sites, facts, strict=True)
            if not (_takes_all(wrapper) and any(wraps(wrapper, function) for function in facts))
        ]

    def _makes_record(self, key: FrameKey, one: Call) -> bool:
        """Whether a call makes an object of a class that has no constructor of its own, or none that was read: its
        arguments become fields. What was not read is a class if it is spelled like one."""
        frame = self._graph.frames[key]
        targets = self._linker.graph.points_to(frame.node(one.func))
        spelled = getattr(frame.code.defined.get(one.func), "name", "")[:1].isupper()
        return spelled or any(isinstance(target, ClassObject) for target in targets)

    def _parameter(self, callee: FrameKey, code: Code, call: Call, value: Value) -> frozenset[str]:
        """What a callee does with the parameter that ``value`` becomes."""
        facts = self._graph.code(callee).facts
        for name, given in arguments_of(code, call, facts, implicit=False).items():
            if given == value:
                return self._parameter_kind(callee, name)
        return frozenset({"element"})

    def _uses_of(self, callee: FrameKey, name: str) -> Iterator[tuple[Use, Handle]]:
        """The uses of a parameter, whatever storage it is."""
        code = self._graph.code(callee)
        parameters = (one.dst for one in code.defined.values() if isinstance(one, Param) and one.name == name)
        nowhere = defined_at(code)
        some = Handle(Buffer(Instance("?", "", 0, 0), name), EVERY, True, nowhere, ())
        return self.trace(callee, next(parameters, NOTHING), some)

    def _parameter_kind(self, callee: FrameKey, name: str) -> frozenset[str]:
        memo = (callee[0], name)
        known = self._parameter_kinds.get(memo)
        if known is None:
            self._parameter_kinds[memo] = frozenset()  # a recursive call adds nothing of its own
            uses = self._uses_of(callee, name)
            known = frozenset(use.kind for use, _ in uses) or frozenset({"metadata"})
            self._parameter_kinds[memo] = known
        return known


def _is_namespace(code: Code, value: Value) -> bool:
    """Whether a value is the table of an object's attributes by name."""
    one = code.defined.get(value)
    return isinstance(one, Call) and called_name(code, one) in ("vars", "asdict")


def _counted(code: Code, value: Value) -> Value | None:
    """What ``enumerate(…)`` counts of which a value is a pair: the number of an element, and the element."""
    one = code.defined.get(value)
    made = code.defined.get(one.iterable) if isinstance(one, Iterate) else None
    counts = isinstance(made, Call) and called_name(code, made) == "enumerate" and len(made.arguments) == 1
    return made.arguments[0].value if counts and isinstance(made, Call) else None


def _is_in_order(code: Code, value: Value) -> bool:
    """Whether a list is gone through from its first element on: no part of one, nor one turned round."""
    one = code.defined.get(value)
    if isinstance(one, Call) and called_name(code, one) in ALIAS_CALLS:
        return called_name(code, one) in ("list", "tuple") and _is_in_order(code, one.arguments[0].value)
    return not isinstance(one, Item | Phi)


def _counts_up(code: Code, value: Value) -> bool:
    """Whether a value is ``range(n)``."""
    one = code.defined.get(value)
    return isinstance(one, Call) and called_name(code, one) == "range" and len(one.arguments) == 1


def _count(code: Code, pair: Value, place: int, users: Iterable[User]) -> Layer:
    """The number of an element, which is at a place of a pair of ``enumerate`` or ``zip``, as its function names it."""
    numbers = [each.dst for user in users if isinstance(each := user.instruction, Unpack) and each.index == place]
    return layer_of(code.defined, numbers[0]) if numbers else Layer(((Derived(f"%{pair}", ()), 1),))


def _put_in_order(one: Build, value: Value, handle: Handle) -> list[Step]:
    """A handle in a tuple or list has a place in it; in a set or a dictionary it has none."""
    if one.kind not in ("tuple", "list"):
        return [("alias", one.dst, handle)]
    places = [place for place, element in enumerate(one.elements) if element == value]
    return [("alias", one.dst, put_into(handle, place)) for place in places]


def _taken_out(dst: Value, place: int, handle: Handle) -> list[Step]:
    """What comes out of a tuple or list at ``place``: the handle, if it is there."""
    *rest, there = handle.inside
    fits = ANYWHERE in (place, there) or place == there
    return [("alias", dst, replace(handle, inside=tuple(rest)))] if fits else []


def _constant(code: Code, index: Value) -> int:
    one = code.defined.get(index)
    return one.value if isinstance(one, Const) and isinstance(one.value, int) and one.value >= 0 else ANYWHERE


_PUTS = frozenset({"append", "extend", "insert", "add", "update", "setdefault"})
"""Methods that put their argument into a list, a dictionary or a set."""


def _put_into(code: Code, one: Call) -> Value | None:
    """The list or dictionary of this function that a call puts its argument into."""
    func = code.defined.get(one.func)
    if not isinstance(func, Attr) or func.name not in _PUTS:
        return None
    container = code.defined.get(func.base)
    return func.base if isinstance(container, Build) and container.kind in ("list", "dict", "set") else None


def _appends(code: Code, one: Call) -> bool:
    """Whether a call puts its argument, as one element, into a list."""
    func = code.defined.get(one.func)
    container = code.defined.get(func.base) if isinstance(func, Attr) else None
    return isinstance(container, Build) and container.kind == "list" and called_name(code, one) in ("append", "insert")


def _part(code: Code, one: Attr, calls: list[Call], handle: Handle) -> Iterator[Step]:
    """A part of storage that is a structure: ``cache.conv``, or the layer that ``cache.at_layer(i)`` picks."""
    for call in calls:
        arguments = [argument.value for argument in call.arguments if argument.kind == "pos"]
        picked = layer_of(code.defined, arguments[0]) if arguments else handle.layer
        yield "alias", call.dst, replace(handle, layer=picked, selected=bool(arguments))
    if not calls:
        yield "alias", one.dst, handle


def _against_none(code: Code, one: Op) -> bool:
    return one.operator in ("==", "!=", "not") and any(_is_none(code, value) for value in one.operands)


def _is_none(code: Code, value: Value) -> bool:
    one = code.defined.get(value)
    return isinstance(one, Const) and one.value is None


def _is_view_index(code: Code, index: Value) -> bool:
    one = code.defined.get(index)
    if isinstance(one, Build) and one.kind == "tuple":
        return all(_is_view_index(code, part) for part in one.elements)
    return isinstance(one, Const | Opaque) or (isinstance(one, Build) and one.kind == "slice") or is_number(code, index)


def _is_kernel(code: Code) -> bool:
    """A Triton kernel: its parameters are pointers, arithmetic on them is an address."""
    return any(one.rpartition(".")[2] == "jit" for one in code.facts.decorators)


def _is_later(flow: Mapping[int, Iterable[int]], one: User, other: User) -> bool:
    """Whether control comes to a place after another, and never back."""
    if one.block == other.block:
        return one.index < other.index and not reaches(flow, one.block, one.block)
    return reaches(flow, one.block, other.block) and not reaches(flow, other.block, one.block)


def _takes_all(function: FunctionFacts) -> bool:
    """Whether a function takes any arguments: ``*args``."""
    return any(one.kind == "*" for one in function.params)


def _describe(code: Code, one: object) -> str:
    match one:
        case Call():
            name = getattr(code.defined.get(one.func), "name", "")
            return f"passes it to {name}" if name else "passes it to a call"
        case Item():
            return "reads elements of it"
        case Op():
            return f"computes with it ({one.operator})"
        case Attr():
            return f"reads it (.{one.name})"
        case SetAttr() | SetItem() | Bind():
            return ESCAPES
    return "uses it"
