"""What functions of the standard library do that keep objects, start others with them, or chain containers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from auditor.facts import NOTHING, Argument
from auditor.link.calls import Site, entered
from auditor.link.constraints import Node
from auditor.link.elements import extend, iteration
from auditor.link.members import write
from auditor.link.objects import ClassObject, Container, ExternalInstance, Object
from auditor.link.program import ANY, Program

Apply: TypeAlias = Callable[[Object, Site], None]
"""Calls an object."""
Handler: TypeAlias = Callable[[Site, Apply], None]


def _container(kind: str, site: Site) -> Container:
    made = Container(kind, site.frame.code.path, site.at.line, site.at.column, site.frame.context)
    site.frame.program.graph.add(site.target, made)
    return made


def _values(site: Site) -> list[Node]:
    return [node for one, node in site.arguments if one.kind == "pos"]


def _named(site: Site, name: str, place: int) -> Node | None:
    """The argument of a parameter, by its name or its place."""
    named = next((node for one, node in site.arguments if one.kind == "key" and one.name == name), None)
    values = _values(site)
    return values[place] if named is None and place < len(values) else named


# ---------------------------------------------------------------- what keeps objects


def _bag(site: Site, apply: Apply) -> None:
    # v ∋ an object whose fields ⊇ the arguments
    program, at = site.frame.program, site.at
    made = ExternalInstance("types.SimpleNamespace", site.frame.code.path, at.line, at.column)
    program.graph.add(site.target, made)
    for argument, value in site.arguments:
        if argument.kind == "key":
            write(made, program, argument.name, value)


def _dict(site: Site, apply: Apply) -> None:
    # v ∋ a dict of the pairs, or of the other dict, and of the arguments
    program = site.frame.program
    made = _container("dict", site)
    for value in _values(site):
        extend(made, program, value)
    for argument, value in site.arguments:
        if argument.kind == "key":
            program.put(made, f"[{argument.name!r}]", value)


def _default_dict(site: Site, apply: Apply) -> None:
    # v[?] ⊇ call(the factory)
    program = site.frame.program
    made = _container("dict", site)
    values = _values(site)
    if values:
        place = program.graph.new_nodes(1)
        program.put(made, None, place)
        program.graph.on(values[0], apply, site._replace(arguments=(), target=place))
    for value in values[1:]:
        extend(made, program, value)


def _from_keys(site: Site, apply: Apply) -> None:
    for value in _values(site)[1:2]:
        site.frame.program.put(_container("dict", site), None, value)


def _sequence(site: Site, apply: Apply) -> None:
    made = _container("list", site)
    for value in _values(site)[:1]:
        extend(made, site.frame.program, value)


def _holder(kind: str) -> Handler:
    def hold(site: Site, apply: Apply) -> None:
        # v[?] ⊇ the argument
        for value in _values(site)[:1]:
            site.frame.program.put(_container(kind, site), None, value)

    return hold


def _same(site: Site, apply: Apply) -> None:
    # v ⊇ the argument
    for value in _values(site)[:1]:
        site.frame.program.graph.edge(value, site.target)


def _entering(site: Site, apply: Apply) -> None:
    # v ⊇ what a with block of the argument binds
    for value in _values(site)[:1]:
        site.frame.program.graph.on(value, entered, site.frame, site.dst, site.target)


# ---------------------------------------------------------------- iterators


def _chain(site: Site, apply: Apply) -> None:
    # v[?] ⊇ each element of each argument
    program = site.frame.program
    made = _container("list", site)
    for value in _values(site):
        place = program.graph.new_nodes(1)
        program.graph.on(value, iteration, site.frame, place)
        program.put(made, None, place)


def _chain_of(site: Site, apply: Apply) -> None:
    # v[?] ⊇ each element of each element of the argument
    program = site.frame.program
    made = _container("list", site)
    outer, inner = program.graph.new_nodes(1), program.graph.new_nodes(1)
    for value in _values(site)[:1]:
        program.graph.on(value, iteration, site.frame, outer)
        program.graph.on(outer, iteration, site.frame, inner)
        program.put(made, None, inner)


def _tail(site: Site, apply: Apply) -> None:
    # v[?] ⊇ each element of the last argument
    _chain(site._replace(arguments=site.arguments[-1:]), apply)


def _reduce(site: Site, apply: Apply) -> None:
    # v ⊇ call(f, v, each element) ∪ the first
    program = site.frame.program
    values = _values(site)
    if len(values) > 1:
        place = program.graph.new_nodes(1)
        program.graph.on(values[1], iteration, site.frame, place)
        for first in (place, *values[2:]):
            program.graph.edge(first, site.target)
        given = ((Argument("pos", "", NOTHING), site.target), (Argument("pos", "", NOTHING), place))
        program.graph.on(values[0], apply, site._replace(arguments=given))


# ---------------------------------------------------------------- what runs elsewhere


def _thread(args_place: int) -> Handler:
    def start(site: Site, apply: Apply) -> None:
        # parameter(f, i) ⊇ args[i]
        program, at = site.frame.program, site.at
        program.graph.add(site.target, ExternalInstance("threading.Thread", site.frame.code.path, at.line, at.column))
        target = _named(site, "target", 1) or _named(site, "function", 1)
        if target is not None:
            args, kwargs = _named(site, "args", args_place), _named(site, "kwargs", args_place + 1)
            given = tuple(
                (Argument(kind, "", NOTHING), node) for kind, node in (("*", args), ("**", kwargs)) if node is not None
            )
            _run(site, apply, target, given, program.graph.new_nodes(1))

    return start


def _run(site: Site, apply: Apply, function: Node, given: tuple[tuple[Argument, Node], ...], result: Node) -> None:
    """Another thread runs the function: what it is given is passed, what is held here is not held there."""
    later = site._replace(arguments=given, target=result, runs=False)
    site.frame.program.graph.on(function, apply, later)


def _submit(site: Site, apply: Apply) -> None:
    # v ∋ a future of call(f, …)
    program = site.frame.program
    if site.arguments:
        result = program.graph.new_nodes(1)
        program.put(_container("future", site), None, result)
        _run(site, apply, site.arguments[0][1], site.arguments[1:], result)


def _to_thread(site: Site, apply: Apply) -> None:
    # v ⊇ call(f, …)
    if site.arguments:
        _run(site, apply, site.arguments[0][1], site.arguments[1:], site.target)


def _gather(site: Site, apply: Apply) -> None:
    # v[i] ⊇ what the i-th gives
    made = _container("list", site)
    for position, value in enumerate(_values(site)):
        site.frame.program.put(made, f"[{position}]", value)


def dereference(one: Container, program: Program, target: Node) -> None:
    """target ⊇ what a weak reference is to"""
    program.graph.edge(program.field(one, ANY), target)


def made_of(one: Object, program: Program, target: Node) -> None:
    """target ⊇ the objects of a class that ``object.__new__`` makes"""
    if isinstance(one, ClassObject):
        program.graph.edge(program.made(one.cls), target)


def _new(site: Site, apply: Apply) -> None:
    for value in _values(site)[:1]:
        site.frame.program.graph.on(value, made_of, site.frame.program, site.target)


HANDLERS: Mapping[str, Handler] = {
    "argparse.Namespace": _bag,
    "threading.local": _bag,
    "types.SimpleNamespace": _bag,
    "builtins.dict": _dict,
    "builtins.dict.fromkeys": _from_keys,
    "builtins.object.__new__": _new,
    "collections.ChainMap": _dict,
    "collections.OrderedDict": _dict,
    "collections.UserDict": _dict,
    "collections.defaultdict": _default_dict,
    "collections.deque": _sequence,
    "types.MappingProxyType": _same,
    "contextlib.closing": _holder("context"),
    "contextlib.nullcontext": _holder("context"),
    "contextlib.AsyncExitStack.enter_async_context": _entering,
    "contextlib.AsyncExitStack.enter_context": _entering,
    "contextlib.ExitStack.enter_context": _entering,
    "weakref.ref": _holder("reference"),
    "weakref.proxy": _same,
    "functools.reduce": _reduce,
    "itertools.chain": _chain,
    "itertools.chain.from_iterable": _chain_of,
    "itertools.cycle": _chain,
    "itertools.islice": _sequence,
    "itertools.repeat": _holder("list"),
    "itertools.dropwhile": _tail,
    "itertools.filterfalse": _tail,
    "itertools.takewhile": _tail,
    "threading.Thread": _thread(3),
    "threading.Timer": _thread(2),
    "multiprocessing.Process": _thread(3),
    "torch.multiprocessing.Process": _thread(3),
    "concurrent.futures.ThreadPoolExecutor.submit": _submit,
    "asyncio.to_thread": _to_thread,
    "asyncio.create_task": _same,
    "asyncio.ensure_future": _same,
    "asyncio.gather": _gather,
    "asyncio.run": _same,
    "asyncio.shield": _same,
    "asyncio.wait_for": _same,
}
"""Dotted name -> what a call of it does."""
