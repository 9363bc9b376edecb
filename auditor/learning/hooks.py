"""Hooks: plugins that load, with a wait for the layer at hand, and who calls it on the way to a read.

Classes with a method of a step's name are the plugins, and the class that most of them derive from is their root. A
decorator that calls it before what it wraps shows the reads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from auditor.facts import (
    Attr,
    Branch,
    Build,
    Call,
    Const,
    Declare,
    Name,
    Op,
    Return,
    TypeExpr,
    Unpack,
    Value,
)
from auditor.learning.hints import Wanted, calling, defining
from auditor.learning.program import Program, at, calls, label, leaves, short
from auditor.learning.steps import Step, starts, steps
from auditor.learning.values import HIGH, LOW, MEDIUM, Evidence, Hooks, Named
from auditor.link import Code
from auditor.loading import called, receiver

PLAIN = frozenset({"abc.ABC", "ABC", "object", "typing.Protocol", "Protocol", "typing.Generic", "Generic"})
"""Bases that say nothing of what a class is."""


class Plugins:
    """The plugins of a program."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self.steps = steps(program)

    def wanted(self) -> Iterator[Wanted]:
        """The files with other plugins, and with those who call the wait."""
        for name in sorted({step.code.facts.name for step in self.steps}):
            yield defining("def", (name,))
            yield calling(name)
        for wrapper, _ in self._wrappers():
            yield defining("def", sorted(_sources_of(wrapper)))

    # ------------------------------------------------------------ what is told

    def hooks(self) -> Hooks | None:
        """The family of plugins that most classes belong to, if its methods are all known."""
        found = [one for step in self.steps if (one := self._hooks(step)) is not None]
        return max(found, key=lambda one: (bool(one.offer), len(one.shown), one.wait), default=None)

    def _hooks(self, step: Step) -> Hooks | None:
        wait = step.code.facts.name
        load = min(starts(self._program, step), key=lambda code: (code.facts.name.startswith("_"), code.facts.name))
        roots = Counter(root for code in self._program.methods[wait] if (root := self._root(code.owner, wait)))
        if not roots:
            return None
        root, plugins = max(roots.items(), key=lambda pair: (pair[1], pair[0]))
        offer = self._offer(root, wait)
        callers = [
            at(code, one.at.line, f"{label(code)} waits before it calls what it wraps")
            for code, one in self._wrappers()
        ]
        shown = [
            at(step.code, step.line, f"{label(step.code)} {step.taken}"),
            at(load, load.facts.at.line, f"{label(load)} {step.started}"),
            *callers,
            *(at(code, code.facts.at.line, label(code)) for code in self._program.methods[wait]),
        ]
        if offer is not None:
            what = f"{label(offer)} tells how much, and whether between passes"
            shown.insert(2, at(offer, offer.facts.at.line, what))
        sure = HIGH if callers and plugins > 2 else MEDIUM if plugins > 2 or callers else LOW
        named = (short(root), wait, load.facts.name, offer.facts.name if offer else "")
        return Hooks(*named, *self.idle(), sure, tuple(shown))

    def _root(self, cls: str, wait: str) -> str:
        """The class that a plugin derives from: the topmost with the wait, or one that is not of the tree."""
        order = [one for one in self._program.hierarchy.mro(cls) if one not in PLAIN]
        outside = [one for one in order if one not in self._program.hierarchy.classes]
        inside = [one for one in order if f"{one}.{wait}" in self._program.codes]
        known = outside[:1] or inside[-1:]
        return known[0] if known and known[0] != cls else ""

    def _offer(self, root: str, wait: str) -> Code | None:
        """The method that returns a number and a truth value: how much can be loaded, and whether between passes."""
        classes = [root, *(code.owner for code in self._program.methods[wait])]
        methods = (code for cls in classes if cls in self._program.hierarchy.classes for code in self._program.own(cls))
        return next((code for code in methods if _is_offer(code.facts.returns)), None)

    # ------------------------------------------------------------ who waits

    def _around(self, wrapper: Code) -> Code:
        """The function that makes a wrapper."""
        return self._program.codes[f"{wrapper.module}.{wrapper.facts.scope}"]

    def _wrappers(self) -> Iterator[tuple[Code, Call]]:
        """The functions that call the wait and then what they wrap: a parameter of the function around them."""
        names = {step.code.facts.name for step in self.steps}
        for code in self._program.codes.values():
            around = self._program.codes.get(f"{code.module}.{code.facts.scope}")
            if around is None or around.facts.kind != "function":
                continue
            given = {one.name for one in around.facts.params}
            first: Call | None = None
            for one in calls(code):
                func = code.defined.get(one.func)
                if isinstance(func, Attr) and func.name in names:
                    first = first or one
                elif isinstance(func, Name) and func.name in given and first is not None:
                    yield code, first
                    break

    def guarded(self) -> tuple[tuple[Named, ...], tuple[Named, ...]]:
        """The classes and attributes that hold the storage of a layer: what the wrapper hands to the plugin after the
        call, followed to the function that it has it from."""
        pools: dict[str, Evidence] = {}
        buffers: dict[str, Evidence] = {}
        for wrapper, wait in self._wrappers():
            for one in calls(wrapper):
                if called(wrapper.defined, one) != called(wrapper.defined, wait) and self._same(wrapper, one, wait):
                    for argument in one.arguments:
                        for code, read in self._behind(wrapper, argument.value):
                            where = at(
                                code, read.at.line, f"{label(code)} reads {read.name}, which {label(wrapper)} is for"
                            )
                            for cls in self._declared(code, read.base):
                                if read.name not in self.idle()[1]:
                                    buffers.setdefault(read.name, where)
                                    pools.setdefault(short(cls), where)
        return _all(pools), _all(buffers)

    def _same(self, code: Code, one: Call, other: Call) -> bool:
        return receiver(code.defined, one) == receiver(code.defined, other)

    def _behind(self, code: Code, value: Value) -> Iterator[tuple[Code, Attr]]:
        """What a value is in the function that returned it as a part of a tuple."""
        part = code.defined.get(value)
        call = code.defined.get(part.source) if isinstance(part, Unpack) else None
        if not isinstance(part, Unpack) or not isinstance(call, Call):
            return
        for function in self._program.codes.values():
            if function.facts.name == called(code.defined, call) and not function.owner:
                for block in function.facts.blocks:
                    build = function.defined.get(block.end.value) if isinstance(block.end, Return) else None
                    if isinstance(build, Build) and -1 < part.index < len(build.elements):
                        for one in leaves(function, build.elements[part.index]):
                            if isinstance(one, Attr):
                                yield function, one

    def _declared(self, code: Code, value: Value) -> Iterator[str]:
        one = code.defined.get(value)
        if isinstance(one, Declare):
            yield from self._program.named(code, one.type)

    def telling(self) -> list[tuple[str, ...]]:
        """Names that stand together where the reads are: the decorator, the wait, where the storage comes from."""
        return [
            (
                self._around(wrapper).facts.name,
                called(wrapper.defined, wait),
                *dict.fromkeys(_sources_of(wrapper)),
            )
            for wrapper, wait in self._wrappers()
        ]

    def classes(self, hooks: Hooks | None) -> tuple[Named, ...]:
        """The plugins themselves: they are the load."""
        codes = self._program.methods.get(hooks.wait, ()) if hooks is not None else ()
        found = {short(code.owner): at(code, code.facts.at.line, f"{label(code)} is the load") for code in codes}
        return _all({name: where for name, where in found.items() if hooks is None or name != hooks.root})

    def _askers(self) -> Iterator[Code]:
        """The functions that ask before they wait: wrappers, and what only waits."""
        names = {step.code.facts.name for step in self.steps}
        return (
            code
            for code in self._program.codes.values()
            if not code.owner and any(called(code.defined, one) in names for one in calls(code))
        )

    def waiters(self) -> list[Code]:
        """The functions that wait for the layer at hand and call nothing that they wrap."""
        wrapping = {code.name for code, _ in self._wrappers()}
        return [code for code in self._askers() if code.name not in wrapping and code.facts.kind == "function"]

    def idle(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What a wrapper asks before it waits: functions without arguments, and names that may be None."""
        absent: dict[str, None] = {}
        idle: dict[str, None] = {}
        for code in self._askers():
            for block in code.facts.blocks:
                test = code.defined.get(block.end.test) if isinstance(block.end, Branch) else None
                if isinstance(test, Call) and not test.arguments and called(code.defined, test):
                    absent[called(code.defined, test)] = None
                elif isinstance(test, Op) and test.operator == "is" and _is_none(code, test.operands[1]):
                    idle[code.facts.names.get(test.operands[0], "")] = None
        return tuple(absent), tuple(name for name in idle if name)


def _is_offer(kind: TypeExpr | None) -> bool:
    return kind is not None and kind.name.lower().endswith("tuple") and [one.name for one in kind.args[1:]] == ["bool"]


def _is_none(code: Code, value: Value) -> bool:
    one = code.defined.get(value)
    return isinstance(one, Const) and one.value is None


def _sources_of(code: Code) -> Iterator[str]:
    """The functions whose results a wrapper takes apart."""
    for one in code.defined.values():
        call = code.defined.get(one.source) if isinstance(one, Unpack) else None
        if isinstance(call, Call) and (name := called(code.defined, call)):
            yield name


def _all(found: dict[str, Evidence]) -> tuple[Named, ...]:
    return tuple(Named(name, MEDIUM, (where,)) for name, where in sorted(found.items()))
