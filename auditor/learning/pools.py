"""Pools: the classes whose objects are given a counter or wait on it, those that they derive from and are derived from
them, and the storage that such an object owns without being one."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.facts import Attr, Call, Item, Return, SetAttr, Value
from auditor.learning.gates import Gates, Use
from auditor.learning.hints import Wanted, defining, extending
from auditor.learning.program import SELF, Program, calls, label, origin, short
from auditor.learning.values import HIGH, LOW, MEDIUM, Evidence, Named
from auditor.link import Code
from auditor.loading import called, receiver, sources


class Pools:
    """The pool classes of a program, as far as it was read."""

    def __init__(self, program: Program, gates: Gates) -> None:
        self._program = program
        self._gates = gates
        self.owners = self._owners()
        """Class → what shows that its objects have a counter."""
        self.roots = tuple(sorted({self._top(cls) for cls in self.owners}))
        """The classes that families start with: the topmost with storage of its own that an owner derives from."""
        self.family = frozenset(one for root in self.roots for one in program.hierarchy.subclasses(root))
        self.waiting = self._waiting()
        """Method (qualified) of a pool that waits, itself or by a method of its own object → its first wait."""
        self.inner = self._inner()
        """Class (read or not) that a pool's waiting method reads through → where."""

    def _owners(self) -> dict[str, list[Evidence]]:
        found: dict[str, list[Evidence]] = {}
        armings = self._gates.arming_methods()
        for counter in sorted(self._gates.counters()):
            for code, store in self._program.storing(counter):
                if code.facts.name in armings:
                    what = f"{label(code)} stores the counter as {counter}"
                    found.setdefault(code.owner, []).append(Evidence(code.path, store.at.line, what))
        for use in self._gates.uses:
            if len(use.path) == 1 and use.code.owner:
                found.setdefault(use.code.owner, []).append(use.evidence)
        return found

    def _top(self, cls: str) -> str:
        """The last of the classes that an owner derives from whose constructor stores something; not the layers of a
        network: what they have in common is not storage."""
        line = self._program.lineage(cls)
        plain = [one for one in line if self._keeps(one) and not any(map(self._is_layer, self._program.lineage(one)))]
        return plain[-1] if plain else cls

    def _keeps(self, cls: str) -> bool:
        made = self._program.codes.get(f"{cls}.__init__")
        return made is not None and any(
            type(one) is SetAttr for block in made.facts.blocks for one in block.instructions
        )

    def _is_layer(self, cls: str) -> bool:
        return "forward" in self._program.hierarchy.classes[cls].facts.methods

    # ------------------------------------------------------------ methods that wait

    def _waiting(self) -> dict[str, Evidence]:
        """Least set: a method waits if it calls a gate, or on its own object a method that waits.

        waits(m) ← gate(m);  waits(m) ← calls(m, self.n), waits(n)
        """
        found = {use.code.name: use.evidence for use in self._direct()}
        todo = [code for cls in sorted(self.family) for code in self._program.own(cls) if code.name not in found]
        calling = {code.name: tuple(self._own_calls(code)) for code in todo}
        known = -1
        while known != len(found):
            known = len(found)
            for code in todo:
                if code.name not in found and (first := self._reaches(code, calling[code.name], found)) is not None:
                    found[code.name] = first
        return found

    def _direct(self) -> Iterator[Use]:
        return (use for use in self._gates.uses if use.code.owner in self.family)

    def _reaches(self, code: Code, calling: tuple[Call, ...], found: dict[str, Evidence]) -> Evidence | None:
        for one in calling:
            method = self._program.method(code.owner, called(code.defined, one))
            if method is not None and method.name in found:
                what = f"{label(code)} calls {label(method)}, which waits"
                return Evidence(code.path, one.at.line, what)
        return None

    def _own_calls(self, code: Code) -> Iterator[Call]:
        """The calls of methods on the object itself, and of ``super()``."""
        for one in calls(code):
            func = code.defined.get(one.func)
            if isinstance(func, Attr) and (func.base == SELF or _is_super(code, func.base)):
                yield one

    # ------------------------------------------------------------ storage that a pool owns

    def _inner(self) -> dict[str, Evidence]:
        found: dict[str, Evidence] = {}
        for code in (self._program.codes[name] for name in sorted(self.waiting)):
            if not code.facts.name.startswith("_"):
                for cls, line in self._read_through(code):
                    if not self.family.intersection(self._program.lineage(cls)):
                        where = Evidence(code.path, line, f"{label(code)} waits, then reads {short(cls)}")
                        found.setdefault(cls, where)
        return found

    def _read_through(self, code: Code) -> Iterator[tuple[str, int]]:
        """The classes of the tree that a method returns objects of, or calls methods of what it holds."""
        for cls in self._program.named(code, code.facts.returns):
            if _returns_storage(code):
                yield cls, code.facts.at.line
        for one in calls(code):
            path = origin(code.defined, receiver(code.defined, one))
            if len(path) == 1 and path[0] not in self._gates.counters() and _is_returned(code, one.dst):
                for cls in sorted(self._program.held(code.owner, path[0])):
                    yield cls, one.at.line

    # ------------------------------------------------------------ what is wanted, what is told

    def wanted(self) -> Iterator[Wanted]:
        """The files with subclasses of pools, and with the storage that they own."""
        above = {one for cls in self.owners for one in self._program.unread(cls)}
        if above:
            yield defining("class", sorted(map(short, above)))
        if self.family:
            yield extending([short(cls) for cls in self.family])
        if unread := [short(cls) for cls in self.inner if cls not in self._program.hierarchy.classes]:
            yield defining("class", unread)

    def pools(self) -> tuple[Named, ...]:
        """The classes to name in a pack: the owners that start a family, and the storage that they own."""
        found = [self._root(cls) for cls in self.roots]
        told = {one.name for one in found}
        known = [cls for cls in self.inner if cls in self._program.hierarchy.classes]
        starts = [cls for cls in known if not set(self._program.lineage(cls)[1:]).intersection(known)]
        for cls in sorted(starts):
            if short(cls) not in told:
                told.add(short(cls))
                found.append(Named(short(cls), MEDIUM, (self.inner[cls], *self._definition(cls))))
        return tuple(found)

    def _root(self, cls: str) -> Named:
        derived = len(self._program.hierarchy.subclasses(cls)) - 1
        waiting = sum(1 for name in self.waiting if name.rpartition(".")[0] in self._program.hierarchy.subclasses(cls))
        more = f"{derived} classes derive from it; {waiting} methods of the family wait"
        place = self._definition(cls)[0]
        sure = HIGH if waiting > 1 else MEDIUM if waiting else LOW
        below = sorted(set(self.owners).intersection(self._program.hierarchy.subclasses(cls)))
        if cls not in below:
            others = f", as do {derived - 1} more" if derived > 1 else ""
            sure, more = MEDIUM, f"{short(below[0])} derives from it{others}"
        return Named(short(cls), sure, (self.owners[below[0]][0], Evidence(place.path, place.line, more)))

    def _definition(self, cls: str) -> tuple[Evidence, ...]:
        info = self._program.hierarchy.classes[cls]
        return (Evidence(info.path, info.facts.at.line, f"class {short(cls)}"),)


def returned(code: Code) -> Iterator[Value]:
    """The values that a function returns, but for None."""
    for block in code.facts.blocks:
        if isinstance(block.end, Return):
            one = code.defined.get(block.end.value)
            if not (hasattr(one, "value") and one.value is None):  # type: ignore[union-attr]
                yield block.end.value


def returns(code: Code) -> bool:
    """Whether a function returns something, not only None."""
    return next(returned(code), None) is not None


def _is_returned(code: Code, value: Value) -> bool:
    return any(value in sources(code.defined, one) for one in returned(code))


def _returns_storage(code: Code) -> bool:
    """Whether what is returned was picked out of an attribute of the object."""
    return any(
        isinstance(code.defined.get(one), Item) and origin(code.defined, one)
        for value in returned(code)
        for one in sources(code.defined, value)
    )


def _is_super(code: Code, value: Value) -> bool:
    one = code.defined.get(value)
    return isinstance(one, Call) and called(code.defined, one) == "super"
