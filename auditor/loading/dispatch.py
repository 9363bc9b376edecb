"""Storage that is left behind because a host pool was chosen by the base class of a device pool: it does not carry what
the subclass adds."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from auditor.facts import Attr, Call, Import, Name, Value, places
from auditor.link import Code, Instance, access_path
from auditor.loading.effects import Effects, spot
from auditor.loading.values import Lapse, Step
from auditor.spec import EngineSpec, matcher


class Dispatch:
    """Finds the host pools that are chosen by ``isinstance``."""

    def __init__(self, effects: Effects, spec: EngineSpec) -> None:
        self._effects = effects
        self._linker = effects.linker
        self._guarded = matcher(spec.buffers)
        self._is_host = matcher(spec.host_side)
        self._mentions = functools.cache(self._mentioned)
        self._known = functools.cache(self._in_family)
        self._methods: dict[str, list[Code]] = {}
        for code in self._linker.codes.values():
            if code.owner:
                self._methods.setdefault(code.owner, []).append(code)
        self._by_name: dict[str, list[str]] = {}
        for cls in sorted(self._linker.hierarchy.classes):
            self._by_name.setdefault(cls.rpartition(".")[2], []).append(cls)
        self._derived: dict[str, list[str]] = {}
        """The classes that objects are made of, by each of their bases."""
        for cls, objects in sorted(self._linker.instances.items()):
            if self._linker.tracked(cls) and any(not one.anonymous for one in objects):
                for base in self._linker.hierarchy.mro(cls)[1:]:
                    self._derived.setdefault(base, []).append(cls)

    def left(self) -> Iterator[Lapse]:
        """The buffers that the host pools chosen somewhere do not know."""
        for name in sorted(self._effects.named.keys() & self._by_name.keys()):
            for host in self._by_name[name]:
                if self._is_host_class(host):
                    for code, block, _, one in self._effects.named[name]:
                        yield from self._chosen(code, block, one, host)

    def given(self) -> Iterator[Lapse]:
        """The buffers of a pool that no host pool which it is given to knows, where one of them carries others, and a
        host pool of the same family would know them."""
        hosts = sorted(self._hosts(), key=lambda one: (one[0].path, one[1].at, one[2], repr(one[3])))
        mentioned: dict[Instance, frozenset[str]] = {}
        for _, _, host, pool in hosts:
            mentioned[pool] = mentioned.get(pool, frozenset()) | self._mentions(host)
        for code, one, host, pool in hosts:
            stored = self._linker.hierarchy.stored_in_all(pool.cls)
            guarded = {name for name in stored if self._guarded(name) is not None and self._is_read(pool.cls, name)}
            if guarded & self._mentions(host):
                for name in sorted((guarded & self._known(host)) - mentioned[pool]):
                    yield _given(code, one, host, pool.cls, name)

    def _hosts(self) -> Iterator[tuple[Code, Call, str, Instance]]:
        """The calls that make a host pool for a device pool: its class, and the pool."""
        for (name, value), callees in self._linker.calls.items():
            made = {callee.rpartition(".")[0] for callee, _ in callees if callee.endswith(".__init__")}
            hosts = sorted(filter(self._is_host_class, made))
            code, frame = self._linker.codes[name], self._linker.frames.get((name, None))
            call = code.defined.get(value)
            if not hosts or frame is None or not isinstance(call, Call) or not self._effects.product(code.path):
                continue
            block = places(code.facts)[value][0]
            for argument in call.arguments:
                for pool in self._linker.view(frame, argument.value, block):
                    if isinstance(pool, Instance) and self._linker.tracked(pool.cls):
                        yield from ((code, call, host, pool) for host in hosts)

    def _chosen(self, code: Code, block: int, one: Call, host: str) -> Iterator[Lapse]:
        tests = [test for test in code.conditions.get(block, ()) if test.kind == "isinstance"]
        for test in tests:
            if test.holds and any(access_path(code.defined, given.value) == test.path for given in one.arguments):
                others = [other.operand for other in tests if not other.holds and other.path == test.path]
                refused = {cls for other in others for cls in self._classes(code, other)}
                for base in self._classes(code, test.operand):
                    yield from self._of_base(code, one, host, base, refused)

    def _of_base(self, code: Code, one: Call, host: str, base: str, refused: set[str]) -> Iterator[Lapse]:
        """What the subclasses of a base class have that the host pool of the base class does not carry."""
        hierarchy = self._linker.hierarchy
        derived = [cls for cls in self._derived.get(base, ()) if not refused.intersection(hierarchy.mro(cls))]
        shared = hierarchy.stored_in_all(base) | self._mentions(host) if derived else frozenset()
        found: dict[str, list[str]] = {}
        for cls in derived:
            for name in sorted(hierarchy.stored_in_all(cls) - shared):
                if self._guarded(name) is not None and self._is_read(cls, name):
                    found.setdefault(name, []).append(cls)
        for name, classes in found.items():
            yield _lapse(code, one, host, base, tuple(classes), name)

    def _classes(self, code: Code, value: Value) -> list[str]:
        """The classes that a name (or a tuple of names) stands for, by the last part of the name."""
        one = code.defined.get(value)
        if isinstance(one, Name | Import | Attr):
            return self._by_name.get(one.name, [])
        elements = getattr(one, "elements", ())
        return [cls for element in elements for cls in self._classes(code, element)]

    def _in_family(self, host: str) -> frozenset[str]:
        """Every attribute that some host pool of the same family reads."""
        hierarchy = self._linker.hierarchy
        family = set(hierarchy.mro(host)) & set(hierarchy.classes)
        others = (
            cls for cls in hierarchy.classes if family.intersection(hierarchy.mro(cls)) and self._is_host_class(cls)
        )
        return frozenset().union(*map(self._mentions, others))

    def _is_host_class(self, cls: str) -> bool:
        return self._linker.hierarchy.is_kind_of(cls, self._is_host)

    def _mentioned(self, host: str) -> frozenset[str]:
        """Every attribute that the methods of a host pool read, of itself or of the device pool."""
        methods = (code for cls in self._linker.hierarchy.mro(host) for code in self._methods.get(cls, ()))
        return frozenset(one.name for code in methods for one in code.defined.values() if isinstance(one, Attr))

    def _is_read(self, cls: str, name: str) -> bool:
        """Whether a method of the class reads the buffer."""
        methods = (code for base in self._linker.hierarchy.mro(cls) for code in self._methods.get(base, ()))
        return any(
            isinstance(one, Attr) and one.name == name and one.base == 0
            for code in methods
            if code.facts.name != "__init__"
            for one in code.defined.values()
        )


def _given(code: Code, one: Call, host: str, cls: str, name: str) -> Lapse:
    where = spot(code, one.at)
    short, pool = host.rpartition(".")[2], cls.rpartition(".")[2]
    return Lapse(
        where=where,
        subject=name,
        steps=(
            Step(where, f"{short} is made for a {pool}"),
            Step(where, f"no host pool that it is given to knows {name}, which {pool} reads"),
        ),
        message=f"makes {short} for {pool}, whose {name} it neither stores nor loads",
        missing=f"a host pool that carries {name}",
        classes=(cls,),
    )


def _lapse(code: Code, one: Call, host: str, base: str, classes: tuple[str, ...], name: str) -> Lapse:
    where = spot(code, one.at)
    chosen, asked, first = (part.rpartition(".")[2] for part in (host, base, classes[0]))
    more = f" (and {len(classes) - 1} more)" if len(classes) > 1 else ""
    return Lapse(
        where=where,
        subject=name,
        steps=(
            Step(where, f"{chosen} is chosen for every {asked}"),
            Step(where, f"{first}{more} is one as well, and has {name}, which {chosen} does not carry"),
        ),
        message=f"chooses {chosen} for {first}{more}, whose {name} it neither stores nor loads",
        missing=f"a host pool that carries {name}, asked for before {asked}",
        classes=classes,
    )
