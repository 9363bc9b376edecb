"""Which readers a mutant opens, by the slow way: the certificates of the tree before, checked against changed facts.

A *reader* is a site with an object that is read there, in an execution mode. It is opened where one of its certificates
does not hold any more, with whatever wait of the same object is put in the place of the one that it names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from auditor.certificates import Certificate, Step, Vocabulary
from auditor.extract import extract
from auditor.facts import FunctionFacts, ModuleFacts
from auditor.gating import EAGER, Judgement, certificates, vocabulary
from auditor.link import Instance, Linker
from auditor.spec import EngineSpec
from auditor.verify import verify
from tests.mutants.kinds import DISARMED, HIGHER
from tests.mutants.sources import Moves, Mutant

Chain = tuple[Step, ...]


class Reader(NamedTuple):
    """A site × object × execution mode."""

    path: str
    line: int
    column: int
    name: str
    object: Instance | None
    mode: str

    def __str__(self) -> str:
        what = self.object.cls.rpartition(".")[2] if self.object is not None else "?"
        return f"{self.path}:{self.line} {self.name} of {what} ({self.mode})"


@dataclass(frozen=True, slots=True)
class Proofs:
    """What is proved of a tree: reader -> its certificates, with the facts and words that they are checked against."""

    certificates: Mapping[Reader, tuple[Certificate, ...]]
    facts: Mapping[str, FunctionFacts]
    words: Vocabulary
    verdicts: Mapping[Reader, str]

    def steps(self) -> Iterator[Step]:
        """Yield every step of every wait."""
        for one in self._all():
            for wait in _waits(one):
                yield from wait

    def armed(self) -> Iterator[Step]:
        """Yield every place where a counter is registered."""
        for one in self._all():
            if one.armed is not None:
                yield one.armed

    def _all(self) -> Iterator[Certificate]:
        for found in self.certificates.values():
            yield from found


def proofs_of(judgement: Judgement, linker: Linker, spec: EngineSpec) -> Proofs:
    """Take from an audit what it proved."""
    found = {}
    for site in judgement.sites:
        for binding in site.bindings:
            gated = tuple(replace(one, mode=EAGER) for one in binding.outcomes if one.verdict == "gated")
            if binding.verdict == "gated":
                alone = replace(judgement, sites=(replace(site, bindings=(replace(binding, outcomes=gated),)),))
                reader = Reader(site.path, site.line, site.column, site.name, binding.object, binding.mode)
                found[reader] = tuple(certificates(alone))
    facts = {name: code.facts for name, code in linker.codes.items()}
    return Proofs(found, facts, vocabulary(spec, linker), verdicts(judgement))


def verdicts(judgement: Judgement) -> dict[Reader, str]:
    """Return the verdict of each reader."""
    return {
        Reader(site.path, site.line, site.column, site.name, binding.object, binding.mode): binding.verdict
        for site in judgement.sites
        for binding in site.bindings
    }


@dataclass(frozen=True, slots=True)
class Opened:
    """The readers of the tree before that a mutant opens, and those of which the reference cannot tell."""

    readers: frozenset[Reader]
    undecided: frozenset[Reader]


class Reference:
    """Answers for the mutants of one tree."""

    def __init__(self, proofs: Proofs) -> None:
        self._proofs = proofs

    def opened(self, mutant: Mutant, text: str, module: str, is_package: bool) -> Opened:
        """Say which readers a mutant opens.

        Args:
            text: the file before; ``module`` its name.
        """
        proofs = self._proofs
        carry = Carried(mutant, text)
        if mutant.kind == DISARMED:
            place = mutant.path, mutant.line
            return Opened(frozenset(one for one, proved in proofs.certificates.items() if _arms(proved, place)), _NONE)
        facts = {**proofs.facts, **_functions(extract(mutant.path, module, is_package, mutant.written(text).encode()))}
        touched = {
            reader: proved
            for reader, proved in proofs.certificates.items()
            if any(step.path == mutant.path for one in proved for step in _steps(one))
        }
        eager = {reader: proved for reader, proved in touched.items() if reader.mode == EAGER}
        fallen = self._fallen(eager, carry, facts)
        replayed = {reader for reader in touched.keys() - eager.keys() if self._concerns(touched[reader], mutant)}
        if mutant.kind == HIGHER:
            return Opened(fallen, frozenset(replayed))
        lost = frozenset(one for one in replayed if any(carry.certificate(each) is None for each in touched[one]))
        return Opened(fallen | lost, frozenset(replayed) - lost)

    def _fallen(
        self, proved: Mapping[Reader, tuple[Certificate, ...]], carry: Carried, facts: Mapping[str, FunctionFacts]
    ) -> frozenset[Reader]:
        asked = [(reader, one) for reader, found in proved.items() for one in found]
        moved = [carry.certificate(one) for _, one in asked]
        holding = self._holding([one for one in moved if one is not None], facts)
        broken = [each for each, now in zip(asked, moved, strict=True) if now is None or now not in holding]
        others = self._others({reader.object for reader, _ in broken}, carry)
        instead = {each: list(_instead(each[1], others[each[0].object], carry)) for each in broken}
        holding = self._holding([one for found in instead.values() for one in found], facts)
        return frozenset(reader for (reader, _), found in instead.items() if holding.isdisjoint(found))

    def _holding(self, asked: Iterable[Certificate], facts: Mapping[str, FunctionFacts]) -> set[Certificate]:
        opinions = verify(dict.fromkeys(asked), facts, self._proofs.words)
        return {one.certificate for one in opinions if not one.objections}

    def _others(self, objects: set[Instance | None], carry: Carried) -> dict[Instance | None, set[tuple[Chain, Step | None]]]:
        """Object -> the calls that lead to a wait for it which is left, from wherever they start, with where its
        counter is registered."""
        found: dict[Instance | None, set[tuple[Chain, Step | None]]] = defaultdict(set)
        for reader, proved in self._proofs.certificates.items():
            if reader.object in objects and reader.mode == EAGER:
                for one in proved:
                    for chain in _leading(one):
                        steps = carry.chain(chain)
                        if steps is not None:
                            found[reader.object].add((steps, one.armed))
        return found

    def _concerns(self, proved: Iterable[Certificate], mutant: Mutant) -> bool:
        return any(
            (step.path, step.line) == (mutant.path, mutant.line)
            for one in proved
            for wait in _waits(one)
            for step in wait
        )


_NONE: frozenset[Reader] = frozenset()


class Carried:
    """Places of the tree before in the tree of a mutant."""

    def __init__(self, mutant: Mutant, text: str) -> None:
        self._path = mutant.path
        self._moves = Moves(mutant, text)

    def step(self, step: Step) -> Step | None:
        if step.path != self._path:
            return step
        if step.column < 0:
            place = self._moves.carried(step.line, 1)
            return None if place is None else replace(step, line=place[0])
        place = self._moves.carried(step.line, step.column)
        return None if place is None else replace(step, line=place[0], column=place[1])

    def chain(self, steps: Iterable[Step]) -> Chain | None:
        found = [self.step(step) for step in steps]
        return None if None in found else tuple(step for step in found if step is not None)

    def certificate(self, one: Certificate) -> Certificate | None:
        """Return a certificate where it stands now; without the waits beside that were taken out, None without its
        own."""
        read, wait = self.chain(one.read), self.chain(one.wait)
        if read is None or wait is None:
            return None
        armed = self.step(one.armed) if one.armed is not None else None
        beside = tuple(steps for steps in map(self.chain, one.beside) if steps is not None)
        return Certificate(one.site, read, wait, armed, beside)

    def reader(self, one: Reader) -> Reader | None:
        if one.path != self._path:
            return one._replace(object=self._object(one.object))
        place = self._moves.carried(one.line, one.column)
        return None if place is None else Reader(one.path, *place, one.name, self._object(one.object), one.mode)

    def _object(self, one: Instance | None) -> Instance | None:
        if one is None:
            return None
        place = self._moves.carried(one.line, one.column) if one.path == self._path and one.line else None
        line, column = place or (one.line, one.column)
        return replace(one, line=line, column=column, owner=self._object(one.owner))


def _instead(
    one: Certificate, others: Iterable[tuple[Chain, Step | None]], carry: Carried
) -> Iterator[Certificate]:
    """A certificate with other waits in the place of its own."""
    read = carry.chain(one.read)
    if read is not None:
        functions = {step.function for step in read}
        for wait, armed in others:
            if wait[0].function in functions:
                yield Certificate(one.site, read, wait, carry.step(armed) if armed is not None else None)


def _leading(one: Certificate) -> Iterator[Chain]:
    """The calls down to a wait: the wait of a certificate, and the way of its read to where it is asked for."""
    for wait in _waits(one):
        for place, step in enumerate(one.read):
            if step.function == wait[0].function:
                for start in range(place + 1):
                    yield (*one.read[start:place], *wait)
        yield wait


def _functions(facts: ModuleFacts) -> dict[str, FunctionFacts]:
    return {f"{facts.module}.{one.qualname}" if one.qualname else facts.module: one for one in facts.functions}


def _arms(proved: Iterable[Certificate], place: tuple[str, int]) -> bool:
    return any(one.armed is not None and (one.armed.path, one.armed.line) == place for one in proved)


def _steps(one: Certificate) -> Iterator[Step]:
    yield from one.read
    for wait in _waits(one):
        yield from wait


def _waits(one: Certificate) -> tuple[Chain, ...]:
    return (one.wait, *one.beside)
