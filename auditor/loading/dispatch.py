"""Storage that is left behind because a host pool was chosen by the base class of a device pool: it does not carry what
the subclass adds."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.facts import Attr, Call, Import, Name, Value
from auditor.link import Code, access_path
from auditor.loading.effects import Effects, calls_of, spot
from auditor.loading.values import Lapse, Step
from auditor.spec import EngineSpec, matcher


class Dispatch:
    """Answers for each function that chooses a host pool by ``isinstance``."""

    def __init__(self, effects: Effects, spec: EngineSpec) -> None:
        self._effects = effects
        self._linker = effects.linker
        self._guarded = matcher(spec.buffers)
        self._is_host = matcher(spec.host_side)
        self._made = sorted(
            cls
            for cls, objects in self._linker.instances.items()
            if self._linker.tracked(cls) and any(not one.anonymous for one in objects)
        )

    def left(self, code: Code) -> Iterator[Lapse]:
        """The buffers that the host pools chosen in a function do not know."""
        if not code.conditions:
            return
        for number, _, one in calls_of(code):
            host = self._host(code, one)
            if host is None:
                continue
            tests = [test for test in code.conditions.get(number, ()) if test.kind == "isinstance"]
            for test in tests:
                if test.holds and any(_reads(code, argument.value, test.path) for argument in one.arguments):
                    refused = [other for other in tests if not other.holds and other.path == test.path]
                    for base in self._classes(code, test.operand):
                        no = {cls for other in refused for cls in self._classes(code, other.operand)}
                        yield from self._of_base(code, one, host, base, no)

    def _of_base(self, code: Code, one: Call, host: str, base: str, refused: set[str]) -> Iterator[Lapse]:
        known = self._mentions(host)
        hierarchy = self._linker.hierarchy
        for cls in self._made:
            order = hierarchy.mro(cls)
            if cls == base or base not in order or refused.intersection(order):
                continue
            shared = {name for mixed in hierarchy.mro(base) for name in hierarchy.stored(mixed)}
            own = {name for mixed in order for name in hierarchy.stored(mixed)} - shared - known
            for name in sorted(own):
                if self._guarded(name) is not None and self._is_read(cls, name):
                    yield _lapse(code, one, host, base, cls, name)

    def _host(self, code: Code, one: Call) -> str | None:
        found = self._classes(code, one.func)
        return next((cls for cls in found if self._linker.hierarchy.is_kind_of(cls, self._is_host)), None)

    def _classes(self, code: Code, value: Value) -> list[str]:
        """The classes that a name (or a tuple of names) stands for, by the last part of the name."""
        one = code.defined.get(value)
        if isinstance(one, Name | Import | Attr):
            wanted = f".{one.name}"
            return sorted(cls for cls in self._linker.hierarchy.classes if cls.endswith(wanted))
        elements = getattr(one, "elements", ())
        return [cls for element in elements for cls in self._classes(code, element)]

    def _mentions(self, host: str) -> frozenset[str]:
        """Every attribute that the methods of a host pool read, of itself or of the device pool."""
        order = self._linker.hierarchy.mro(host)
        return frozenset(
            one.name
            for code in self._linker.codes.values()
            if code.owner in order
            for one in code.defined.values()
            if isinstance(one, Attr)
        )

    def _is_read(self, cls: str, name: str) -> bool:
        """Whether a method of the class itself hands out or reads an element of the buffer."""
        order = self._linker.hierarchy.mro(cls)
        return any(
            isinstance(one, Attr) and one.name == name and one.base == 0
            for code in self._linker.codes.values()
            if code.owner in order and code.facts.name != "__init__"
            for one in code.defined.values()
        )


def _reads(code: Code, value: Value, path: tuple[Value, tuple[str, ...]]) -> bool:
    return access_path(code.defined, value) == path


def _lapse(code: Code, one: Call, host: str, base: str, cls: str, name: str) -> Lapse:
    where = spot(code, one.at)
    short = [part.rpartition(".")[2] for part in (host, base, cls)]
    return Lapse(
        where=where,
        subject=name,
        steps=(
            Step(where, f"{short[0]} is chosen for every {short[1]}"),
            Step(where, f"a {short[2]} is one as well, and has {name}, which {short[0]} does not carry"),
        ),
        message=f"chooses {short[0]} for a {short[2]}, whose {name} it neither stores nor loads",
        missing=f"a host pool for {short[2]} that carries {name}, tested for before {short[1]}",
        classes=(cls,),
    )
