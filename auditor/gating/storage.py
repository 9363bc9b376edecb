"""What attributes are, by their names. Guarded storage: those that the pack names, and those that an accessor hands out
and a loader carries (DESIGN.md §2.10); what only an accessor hands out is not loaded: scratch, rings of requests. A
table of places holds no rows, though accessors hand out places and loaders are made with it. First layers: those that
hold where the layers of an object begin.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from auditor.facts import Attr, Build, Call, Declare, Item, Param, Phi, Return, SetAttr, Value
from auditor.gating.symbols import FIRST_LAYER
from auditor.gating.tables import dense_tables
from auditor.link import Code, Container, Instance, Linker
from auditor.spec import EngineSpec, matcher


class Storage:
    """What of the objects of a program is guarded, by name; built once."""

    def __init__(self, linker: Linker, spec: EngineSpec) -> None:
        side = _transfer_side(linker, spec)
        self._named = matcher(spec.buffers)
        handed_out = _handed_out(linker, spec) - dense_tables(linker)
        given = _given(linker, spec) & handed_out
        self._derived = handed_out & _carried(side) | {name for name in given if not _holds_objects(linker, name)}
        self._carried_parts = _carried_parts(spec, side)
        self._methods = frozenset(code.facts.name for code in linker.codes.values() if code.owner)
        self._known: dict[str, bool] = {}

    def guards(self, name: str) -> bool:
        """Whether an attribute of a pool is guarded storage."""
        if name not in self._known:
            self._known[name] = name in self._derived or self._named(name) is not None
        return self._known[name]

    def leaves_behind(self, name: str, part: str) -> bool:
        """Whether the transfer side takes a structure part by part, and this part is none that it takes. A method is
        not left behind: a property of a structure may be a view of a part."""
        taken = self._carried_parts.get(name)
        return taken is not None and part not in taken and part not in self._methods


def first_layers(linker: Linker) -> frozenset[str]:
    """The names of attributes that hold an object's first layer: ``start_layer``, and what is set from one."""
    found = set(FIRST_LAYER)
    stores = [(code, one) for code in linker.codes.values() for one in own_stores(code)]
    while True:
        new = {one.name for code, one in stores if one.name not in found and _is_named(code, one.value, found)}
        if not new:
            return frozenset(found)
        found |= new


def own_stores(code: Code) -> Iterator[SetAttr]:
    """The stores of a constructor into its object."""
    if code.owner and code.facts.name == "__init__":
        for block in code.facts.blocks:
            yield from (one for one in block.instructions if isinstance(one, SetAttr) and one.base == 0)


def _is_named(code: Code, value: Value, names: Collection[str]) -> bool:
    """Whether a value, or one that it is chosen from (``start_layer or 0``, in a loop), has one of the names."""
    seen: set[Value] = set()
    todo = [value]
    while todo:
        value = todo.pop()
        one = code.defined.get(value)
        if isinstance(one, Phi) and value not in seen:
            seen.add(value)
            todo.extend(choice for _, choice in one.choices)
        elif isinstance(one, Param | Attr) and one.name in names:
            return True
    return False


def _handed_out(linker: Linker, spec: EngineSpec) -> frozenset[str]:
    """The attributes of ``self`` whose value, or a part or view of it, is returned by an accessor of a pool, or by a
    method of a pool's helper that an accessor returns the result of."""
    is_accessor = matcher(spec.accessors)
    made = {one.cls for objects in linker.instances.values() for one in objects if linker.context_of(one)}
    owners = {base for cls in made for base in linker.hierarchy.mro(cls)}
    methods = [code for code in linker.codes.values() if code.owner in owners]
    asked = [code for code in methods if is_accessor(code.facts.name) is not None]
    passed_on = {method.name for code in asked for method in _methods(code, _returned(code, frozenset()))}
    asked += [code for code in methods if code.facts.name in passed_on]
    found: set[str] = set()
    for code in asked:
        own = linker.hierarchy.applicable(code.owner)
        handed = _returned(code, frozenset(spec.uses.views))
        found.update(one.name for one in handed if isinstance(one, Attr) and one.base == 0 and one.name not in own)
    return frozenset(found)


def _returned(code: Code, views: frozenset[str]) -> Iterator[object]:
    """The instructions whose values, parts of values or ``views`` of values a function returns."""
    todo: list[Value] = [block.end.value for block in code.facts.blocks if isinstance(block.end, Return)]
    seen: set[Value] = set()
    while todo:
        value = todo.pop()
        if value in seen:
            continue
        seen.add(value)
        match code.defined.get(value):
            case Item(base=source) | Declare(source=source):
                todo.append(source)
            case Call(func=func) if isinstance(method := code.defined.get(func), Attr) and method.name in views:
                todo.append(method.base)
            case Phi(choices=choices):
                todo.extend(choice for _, choice in choices)
            case Build(kind="tuple" | "list", elements=elements):
                todo.extend(elements)
            case one:
                yield one


def _methods(code: Code, returned: Iterable[object]) -> Iterator[Attr]:
    """The methods that are called for what is returned."""
    for one in returned:
        method = code.defined.get(one.func) if isinstance(one, Call) else None
        if isinstance(method, Attr):
            yield method


def _carried_parts(spec: EngineSpec, side: list[Code]) -> Mapping[str, set[str]]:
    """Storage that is a structure and that the transfer side takes part by part -> the parts."""
    found: dict[str, set[str]] = {}
    for code in side:
        for one in code.defined.values():
            base = code.defined.get(one.base) if isinstance(one, Attr) else None
            if isinstance(one, Attr) and isinstance(base, Attr) and one.name not in spec.uses.metadata:
                found.setdefault(base.name, set()).add(one.name)
    return found


def _given(linker: Linker, spec: EngineSpec) -> frozenset[str]:
    """The attributes that are read in the modules where the objects that copy are made, and those that a method, no
    accessor, hands out there: tables of buffers."""
    is_host, is_copy, is_accessor = matcher(spec.host_side), matcher(spec.transfers), matcher(spec.accessors)
    hosts = (cls for cls in linker.hierarchy.classes if linker.hierarchy.is_kind_of(cls, is_host))
    made = {
        linker.method(cls, "__init__")
        for cls in hosts
        if any(is_copy(name) is not None for name in linker.hierarchy.applicable(cls))
    }
    makers = {caller for (caller, _), callees in linker.calls.items() if any(name in made for name, _ in callees)}
    modules = {linker.codes[name].module for name in makers}
    read = _carried([code for code in linker.codes.values() if code.module in modules])
    views = [
        code
        for code in linker.codes.values()
        if code.owner and code.facts.name in read and is_accessor(code.facts.name) is None
    ]
    return read.union(*(_read_for(code) for code in views))


def _holds_objects(linker: Linker, name: str) -> bool:
    """Whether an attribute holds objects of the program, or collections of some, rather than tensors."""
    held = {one for (_, field), node in linker.fields.items() if field == name for one in linker.graph.points_to(node)}
    inside = (node for (owner, _), node in linker.fields.items() if isinstance(owner, Container) and owner in held)
    return any(isinstance(one, Instance) for one in held.union(*map(linker.graph.points_to, inside)))


def _read_for(code: Code) -> set[str]:
    """The attributes that what a function returns is made from; not the indices by which they are picked."""
    found: set[str] = set()
    todo: list[Value] = [block.end.value for block in code.facts.blocks if isinstance(block.end, Return)]
    seen: set[Value] = set()
    while todo:
        value = todo.pop()
        if value in seen:
            continue
        seen.add(value)
        match code.defined.get(value):
            case Attr(base=base, name=name):
                found.add(name)
                todo.append(base)
            case Call(func=func, arguments=arguments):
                todo += [func, *(argument.value for argument in arguments)]
            case Item(base=source) | Declare(source=source):
                todo.append(source)
            case Phi(choices=choices):
                todo += [choice for _, choice in choices]
            case Build(elements=elements):
                todo += elements
    return found


def _carried(side: list[Code]) -> frozenset[str]:
    """The attributes that the code of the transfer side reads."""
    return frozenset(one.name for code in side for one in code.defined.values() if isinstance(one, Attr))


def _transfer_side(linker: Linker, spec: EngineSpec) -> list[Code]:
    """The methods of host pools and transfer engines, and the functions beside them."""
    is_host = matcher(spec.host_side)
    classes = linker.hierarchy.classes
    hosts = {name for name in classes if linker.hierarchy.is_kind_of(name, is_host)}
    beside = {classes[name].module for name in hosts} - {
        classes[name].module for name in classes if linker.tracked(name)
    }
    return [code for code in linker.codes.values() if code.owner in hosts or code.module in beside]
