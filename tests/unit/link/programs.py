"""Small programs, linked: what the tests of the room share."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import dedent

from auditor.callgraph import by_name
from auditor.extract import extract
from auditor.facts import Attr, Call, ModuleFacts
from auditor.link import ClassObject, ExternalInstance, Frame, Function, Instance, Linker, link_on_demand


def facts(name: str, source: str) -> ModuleFacts:
    """The facts of one module; a name that ends with ``.__init__`` is a package."""
    module = name.removesuffix(".__init__")
    path = f"{name.replace('.', '/')}.py"
    return extract(path, module, name.endswith("__init__"), dedent(source).encode())


def link(
    sources: Mapping[str, str] | str, *, tracked: str = "Pool", on_demand: bool = False, closed: bool = False
) -> Linker:
    """Link modules by name (a single text is ``m``); classes whose name ends with ``tracked`` are told apart."""
    named = {"m": sources} if isinstance(sources, str) else sources
    modules = [facts(name, text) for name, text in named.items()]
    linker = Linker({one.module: one.path for one in modules}, lambda cls, _: cls.endswith(tracked), closed=closed)
    if on_demand:
        link_on_demand(
            linker, modules, lambda _: (), lambda name: name.startswith("get_"), lambda name: name.endswith("_buffer")
        )
    else:
        linker.add(modules)
        linker.graph.solve()
    return linker


def probe(linker: Linker, name: str = "probe") -> set[str]:
    """The short names of everything that is passed to a function called ``name``, as each call sees it."""
    found: set[str] = set()
    for frame in linker.frames.values():
        for block, content in enumerate(frame.code.facts.blocks):
            for one in content.instructions:
                if isinstance(one, Call) and _calls(frame, one, name):
                    for argument in one.arguments:
                        found.update(short(each) for each in linker.view(frame, argument.value, block))
    return found - {""}


def objects(linker: Linker, name: str = "probe") -> set[object]:
    """The same, as objects."""
    found: set[object] = set()
    for frame in linker.frames.values():
        for block, content in enumerate(frame.code.facts.blocks):
            for one in content.instructions:
                if isinstance(one, Call) and _calls(frame, one, name):
                    for argument in one.arguments:
                        found |= linker.view(frame, argument.value, block)
    return found


def _calls(frame: Frame, one: Call, name: str) -> bool:
    func = frame.code.defined[one.func]
    return getattr(func, "name", None) == name and not isinstance(func, Attr)


def short(one: object) -> str:
    """An object by the last part of its name."""
    match one:
        case Instance(cls=cls):
            return cls.rpartition(".")[2]
        case ClassObject(cls=cls):
            return f"class {cls.rpartition('.')[2]}"
        case Function(function=name):
            return f"function {name.rpartition('.')[2]}"
        case ExternalInstance(cls=cls):
            return f"outside {cls}"
    return ""


def callees(linker: Linker, caller: str) -> set[str]:
    """What ``caller`` calls, by qualified name."""
    return set(by_name(linker).get(caller, ()))
