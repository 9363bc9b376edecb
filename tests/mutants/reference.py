"""Which readers a mutant opens, by the slow way: the certificates of the tree before, checked against changed facts.

A *reader* is a site with an object that is read there, in an execution mode. It is opened where one of its certificates
does not hold any more, whatever other wait on the same counter is put in the place of the one that it names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from auditor.certificates import Certificate, Step, Vocabulary
from auditor.extract import extract
from auditor.facts import At, Attr, Call, FunctionFacts, ModuleFacts, definitions
from auditor.gating import EAGER, BindingVerdict, Judgement, SiteVerdict, certificates, vocabulary
from auditor.link import Hierarchy, Instance, Linker
from auditor.spec import EngineSpec
from auditor.verify import verify
from tests.mutants.kinds import DISARMED, LOWER
from tests.mutants.sources import Moves, Mutant

Chain = tuple[Step, ...]
Alternative = tuple[Chain, Step | None]
"""The calls down to a wait, and where the counter is registered."""
Owners = frozenset[Instance] | None


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


class Answer(NamedTuple):
    """What an audit says of a reader: its verdict, and why it, or some way to it, is exempt or excluded."""

    verdict: str
    exempt: frozenset[str]


class Proof(NamedTuple):
    """A certificate, and the objects whose counter is waited on (None: on a counter itself). ``foreign``: classes whose
    methods do not run for the object that is read; a wait in one stands for the same wait of another class. ``inner``:
    the site is in a pool; whether it is opened, its callers decide, whom the proof does not name. ``above``: the step
    of the site, where the proof begins in the function that it calls: elements are read there, and a wait may come
    before the call. ``apart``: the proof begins further below, and a wait may come anywhere between."""

    certificate: Certificate
    owners: Owners
    foreign: frozenset[str]
    inner: bool
    above: Chain
    apart: bool

    @property
    def decided(self) -> bool:
        """Whether what the proof does not name could not cover its reader."""
        return not self.inner and not self.apart

    @property
    def borrowed(self) -> bool:
        return self.is_foreign(self.certificate.wait)

    def is_foreign(self, wait: Chain) -> bool:
        return any(step.function.rpartition(".")[0] in self.foreign for step in wait)


class Opened(NamedTuple):
    """The readers of the tree before that a mutant opens, and those of which the reference cannot tell."""

    readers: frozenset[Reader]
    undecided: frozenset[Reader]


# ---------------------------------------------------------------- what was proved before


@dataclass(frozen=True, slots=True)
class Proofs:
    """What an audit proved: reader -> its proofs, with the facts and words that they are checked against, and the
    answers for all readers."""

    of: Mapping[Reader, tuple[Proof, ...]]
    facts: Mapping[str, FunctionFacts]
    words: Vocabulary
    answers: Mapping[Reader, Answer]

    def gates(self) -> set[Step]:
        """Return every step of every wait."""
        return {step for proved in self.of.values() for one in proved for wait in _waits(one) for step in wait}

    def registrations(self) -> set[Step]:
        """Return every place where a counter is registered."""
        found = (one.certificate.armed for proved in self.of.values() for one in proved)
        return {step for step in found if step is not None}


def proofs_of(judgement: Judgement, linker: Linker, spec: EngineSpec) -> Proofs:
    """Take from an audit what it proved."""
    proved = {
        _reader(site, binding): tuple(_proofs(judgement, site, binding))
        for site in judgement.sites
        for binding in site.bindings
        if binding.verdict == "gated"
    }
    facts = {name: code.facts for name, code in linker.codes.items()}
    return Proofs(proved, facts, vocabulary(spec, linker), answers(judgement))


def answers(judgement: Judgement) -> dict[Reader, Answer]:
    """Return what an audit says of each reader."""
    found = {}
    for site in judgement.sites:
        for one in site.bindings:
            exempt = frozenset(each.why for each in one.outcomes if each.verdict == "exempt")
            reasons = exempt | {one.reason} if one.verdict == "exempt" else exempt
            found[_reader(site, one)] = Answer(one.verdict, reasons)
        for other in site.excluded:
            reader = Reader(site.path, site.line, site.column, site.name, other.object, EAGER)
            found.setdefault(reader, Answer("excluded", frozenset({other.why})))
    return found


def _reader(site: SiteVerdict, binding: BindingVerdict) -> Reader:
    return Reader(site.path, site.line, site.column, site.name, binding.object, binding.mode)


def _proofs(judgement: Judgement, site: SiteVerdict, binding: BindingVerdict) -> Iterator[Proof]:
    for outcome in binding.outcomes:
        if outcome.verdict == "gated" and outcome.gate is not None:
            alone = replace(binding, outcomes=(replace(outcome, mode=EAGER),))
            held = (binding.object, *(outcome.gate.owners or ()))
            pools = {cls for one in held if one is not None for cls in judgement.hierarchy.mro(one.cls)}
            owners, foreign = _waited_on(binding.object, outcome.gate.owners, judgement.hierarchy)
            for one in certificates(replace(judgement, sites=(replace(site, bindings=(alone,)),))):
                inner, above = site.function.rpartition(".")[0] in pools, _above(one.read, site)
                apart = not above and bool(one.read) and one.read[0].function != site.function
                yield Proof(replace(one, site=""), owners, foreign, inner, above, apart)


def _above(read: Chain, site: SiteVerdict) -> Chain:
    """The site, where a proof begins in the function that it calls."""
    calls = bool(read) and read[0].function.rpartition(".")[2] == site.name and read[0].function != site.function
    return (Step(site.path, site.line, site.column, site.function),) if calls else ()


def _waited_on(read: Instance | None, owners: Owners, hierarchy: Hierarchy) -> tuple[Owners, frozenset[str]]:
    """Of the objects that may be waited on where one is read: itself, if it is one of them; and the classes of the
    others, whose methods do not run then."""
    if read is None or owners is None or read not in owners:
        return owners, frozenset()
    others = {cls for owner in owners for cls in hierarchy.mro(owner.cls)}
    return frozenset({read}), frozenset(others.difference(hierarchy.mro(read.cls)))


# ---------------------------------------------------------------- what is left of it


class Reference:
    """Answers for the mutants of one tree."""

    def __init__(self, proofs: Proofs) -> None:
        self._proofs = proofs
        self._gates = proofs.gates()
        self._leading: dict[Owners, set[Alternative]] = defaultdict(set)
        for reader, proved in proofs.of.items():
            for one in proved if reader.mode == EAGER else ():
                self._leading[one.owners].update((chain, one.certificate.armed) for chain in _leading(one))

    def opened(self, mutant: Mutant, text: str, module: str, is_package: bool) -> Opened:
        """Say which readers a mutant opens.

        Args:
            text: the file before; ``module`` its name.
        """
        if mutant.kind == DISARMED:
            return self._disarmed(mutant)
        carry = Carried(mutant, text)
        made = extract(mutant.path, module, is_package, mutant.written(text).encode())
        facts = {**self._proofs.facts, **_functions(made)}
        changed = {step.function for step in self._gates if _is_at(step, mutant)}
        touched = {
            reader: proved
            for reader, proved in self._proofs.of.items()
            if any(one.borrowed or any(step.function in changed for step in _steps(one)) for one in proved)
        }
        eager = {reader: proved for reader, proved in touched.items() if reader.mode == EAGER}
        found = self._fallen(eager, carry, facts)
        replayed = {one for one in touched.keys() - eager.keys() if _names(touched[one], mutant)}
        lost = {one for one in replayed if any(carry.proof(each) is None for each in touched[one])}
        return Opened(found.readers | lost, found.undecided | (replayed - lost))

    def _disarmed(self, mutant: Mutant) -> Opened:
        """All that stands on a registration. Where nothing loads, no replay is looked at."""
        proved = ((reader, one) for reader, found in self._proofs.of.items() for one in found)
        fallen = [(reader, one) for reader, one in proved if _is_armed_at(one, mutant)]
        opened = frozenset(reader for reader, one in fallen if reader.mode == EAGER and not one.inner)
        return Opened(opened, frozenset(reader for reader, _ in fallen) - opened)

    def _fallen(
        self, proved: Mapping[Reader, tuple[Proof, ...]], carry: Carried, facts: Mapping[str, FunctionFacts]
    ) -> Opened:
        readers: dict[Proof, set[Reader]] = defaultdict(set)
        for reader, found in proved.items():
            for one in found:
                readers[one].add(reader)
        moved = {one: carry.proof(one) for one in readers}
        held = self._holding((now.certificate for now in moved.values() if now is not None), facts)
        broken = [one for one, now in moved.items() if now is None or now.certificate not in held]
        others = self._others({one.owners for one in broken}, carry)
        instead = {one: list(_instead(one, others[one.owners], carry)) for one in broken}
        held |= self._holding((one for found in instead.values() for one in found), facts)
        covered = {one: [held[other] for other in found if other in held] for one, found in instead.items()}
        by_name = {one: list(_by_name(one, others[one.owners], carry, facts)) for one in broken if not covered[one]}
        likely = self._holding((one for found in by_name.values() for one in found), facts)
        covered |= {one: [False for other in ways if other in likely] for one, ways in by_name.items()}
        opened = {reader for one, ways in covered.items() if not ways and one.decided for reader in readers[one]}
        unsure = {reader for one, ways in covered.items() if not any(ways) for reader in readers[one]}
        return Opened(frozenset(opened), frozenset(unsure - opened))

    def _holding(self, asked: Iterable[Certificate], facts: Mapping[str, FunctionFacts]) -> dict[Certificate, bool]:
        """The certificates that hold, each with whether all of it could be asked."""
        opinions = verify(dict.fromkeys(asked), facts, self._proofs.words)
        return {one.certificate: not one.untested for one in opinions if not one.objections}

    def _others(self, wanted: set[Owners], carry: Carried) -> dict[Owners, dict[str, set[Alternative]]]:
        """Owners -> function -> the calls in it that lead to a wait on them which is left, with where their counter is
        registered."""
        found: dict[Owners, dict[str, set[Alternative]]] = {one: defaultdict(set) for one in wanted}
        for owners in wanted:
            for chain, armed in self._leading[owners]:
                steps = carry.chain(chain)
                if steps is not None:
                    found[owners][steps[0].function].add((steps, carry.step(armed) if armed is not None else None))
        return found


class Carried:
    """Places of the tree before in the tree of a mutant; None for what was taken out."""

    def __init__(self, mutant: Mutant, text: str) -> None:
        self._path = mutant.path
        self._weakened = mutant if mutant.kind == LOWER else None
        self._moves = Moves(mutant, text)

    def proof(self, one: Proof) -> Proof | None:
        """Return a proof where it stands now, if its wait is there and its own; without the waits beside that are
        gone."""
        before = one.certificate
        read, wait = self.chain(before.read, reading=True), self.chain(before.wait)
        if one.borrowed or read is None or wait is None:
            return None
        armed = self.step(before.armed) if before.armed is not None else None
        beside = tuple(steps for steps in map(self.chain, before.beside) if steps is not None)
        return one._replace(certificate=Certificate("", read, wait, armed, beside))

    def chain(self, steps: Iterable[Step], *, reading: bool = False) -> Chain | None:
        """Return steps where they stand now. A wait for a lower layer is no wait any more."""
        found = []
        for step in steps:
            now = self.step(step) if reading or not self._is_weakened(step) else None
            if now is None:
                return None
            found.append(now)
        return tuple(found)

    def step(self, step: Step) -> Step | None:
        if step.path != self._path:
            return step
        place = self._moves.carried(step.line, max(step.column, 1))
        column = step.column if step.column < 1 or place is None else place[1]
        return None if place is None else replace(step, line=place[0], column=column)

    def reader(self, one: Reader) -> Reader | None:
        if one.path != self._path:
            return one._replace(object=self._object(one.object))
        place = self._moves.carried(one.line, one.column)
        return None if place is None else Reader(one.path, *place, one.name, self._object(one.object), one.mode)

    def _is_weakened(self, step: Step) -> bool:
        return self._weakened is not None and _is_at(step, self._weakened)

    def _object(self, one: Instance | None) -> Instance | None:
        if one is None:
            return None
        place = self._moves.carried(one.line, one.column) if one.path == self._path and one.line else None
        line, column = place or (one.line, one.column)
        return replace(one, line=line, column=column, owner=self._object(one.owner))


# ---------------------------------------------------------------- certificates


def _instead(one: Proof, others: Mapping[str, Iterable[Alternative]], carry: Carried) -> Iterator[Certificate]:
    """A certificate with other waits in the place of its own."""
    read, above = carry.chain(one.certificate.read, reading=True) or (), carry.chain(one.above, reading=True) or ()
    for function in dict.fromkeys(step.function for step in (*above, *read)):
        outside = bool(above) and function == above[0].function
        for wait, armed in others.get(function, ()):
            if read and not one.is_foreign(wait) and not (outside and above[0] in wait):
                # elements are read below the site: only a wait before its call counts, and its layer stays untested
                yield Certificate("", above if outside else read, wait, armed)


def _by_name(
    one: Proof, others: Mapping[str, Iterable[Alternative]], carry: Carried, facts: Mapping[str, FunctionFacts]
) -> Iterator[Certificate]:
    """A certificate with a call in the place of its wait that, by its name, may lead to one: no proof knows of it where
    what it gets is not read."""
    waiting = {name.rpartition(".")[2]: found for name, found in others.items()}
    read = carry.chain(one.certificate.read, reading=True) or ()
    for step in {each.function: each for each in read}.values():
        for at, name in _calls(facts[step.function]):
            for wait, armed in waiting.get(name, ()):
                if not one.is_foreign(wait):
                    yield Certificate("", read, (Step(step.path, *at, step.function), *wait), armed)


def _calls(function: FunctionFacts) -> Iterator[tuple[At, str]]:
    defined = definitions(function)
    for one in defined.values():
        method = defined.get(one.func) if isinstance(one, Call) else None
        if isinstance(one, Call) and isinstance(method, Attr):
            yield one.at, method.name


def _leading(one: Proof) -> Iterator[Chain]:
    """The calls down to a wait: the wait of a certificate, and the way from its site to where it is asked for."""
    way = (*one.above, *one.certificate.read)
    for wait in _waits(one):
        yield wait
        for place, step in enumerate(way):
            if step.function == wait[0].function:
                yield from ((*way[start:place], *wait) for start in range(place) if _is_outside(way[start:place], wait))


def _is_outside(above: Chain, wait: Chain) -> bool:
    """Whether the last of some steps calls the function of the first of others."""
    return above[-1].function != wait[0].function


def _functions(facts: ModuleFacts) -> dict[str, FunctionFacts]:
    return {f"{facts.module}.{one.qualname}" if one.qualname else facts.module: one for one in facts.functions}


def _is_armed_at(one: Proof, mutant: Mutant) -> bool:
    armed = one.certificate.armed
    return armed is not None and (armed.path, armed.line) == (mutant.path, mutant.line)


def _names(proved: Iterable[Proof], mutant: Mutant) -> bool:
    """Whether some proof stands on the gate that a mutant concerns."""
    return any(_is_at(step, mutant) for one in proved for wait in _waits(one) for step in wait)


def _is_at(step: Step, mutant: Mutant) -> bool:
    """Whether a step is the call that a mutant concerns."""
    return (step.path, step.line, step.column) == (mutant.path, mutant.line, mutant.column)


def _steps(one: Proof) -> Iterator[Step]:
    yield from one.certificate.read
    for wait in _waits(one):
        yield from wait


def _waits(one: Proof) -> tuple[Chain, ...]:
    return (one.certificate.wait, *one.certificate.beside)
