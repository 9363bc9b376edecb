"""The second opinion: certificates of fixtures hold, and fall when what they stand on is taken away."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from auditor.certificates import Certificate, Step, Vocabulary
from auditor.facts import Await, Call, Const, FunctionFacts, Instruction
from auditor.gating import certificates, vocabulary
from auditor.spec import find_pack
from auditor.verify import verify
from tests.unit.gating.programs import engine, judged
from tests.unit.verify.mutants import Facts, at_the_end, one_layer_less, without

FIXTURES = Path(__file__).parents[3] / "fixtures"
FOLDERS = sorted(
    {
        path.parent.relative_to(FIXTURES).as_posix()
        for room in (
            "armed",
            "delegation",
            "entry",
            "guards",
            "layers",
            "gate-on-some-paths",
            "ungated-access",
            "uses",
            "waits",
        )
        for path in (FIXTURES / room).rglob("*.py")
        if len(path.relative_to(FIXTURES).parts) == 3
    }
)


class Proofs:
    """The certificates of a program, with what they are checked against."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        found = judged(sources)
        self.certificates = tuple(certificates(found.judgement))
        self.facts: Facts = {name: code.facts for name, code in found.linker.codes.items()}
        self.words: Vocabulary = vocabulary(find_pack("sglang"), found.linker)

    def objections(self, facts: Facts | None = None) -> dict[Certificate, tuple[str, ...]]:
        opinions = verify(self.certificates, facts or self.facts, self.words)
        return {one.certificate: one.objections for one in opinions}


@functools.cache
def proofs(folder: str) -> Proofs:
    files = sorted((FIXTURES / folder).rglob("*.py"))
    named = {".".join(path.relative_to(FIXTURES / folder).with_suffix("").parts): path.read_text() for path in files}
    return Proofs({name.removesuffix(".__init__"): text for name, text in named.items()})


def waits(found: Proofs) -> set[Step]:
    return {wait[-1] for one in found.certificates for wait in (one.wait, *one.beside)}


def stands_on(one: Certificate, wait: Step) -> bool:
    """Whether a certificate names a wait: its own, or one beside it."""
    return any(wait in steps for steps in (one.wait, *one.beside))


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_certificate_holds(folder: str) -> None:
    assert not {site.site: why for site, why in proofs(folder).objections().items() if why}


@pytest.mark.parametrize("folder", FOLDERS)
def test_without_its_wait_a_certificate_falls(folder: str) -> None:
    found = proofs(folder)
    for wait in waits(found):
        told = found.objections(without(found.facts, wait))
        assert all(why for one, why in told.items() if stands_on(one, wait)), str(wait)


@pytest.mark.parametrize("folder", FOLDERS)
def test_of_another_layer_a_certificate_falls(folder: str) -> None:
    found = proofs(folder)
    for wait in waits(found):
        told = verify(found.certificates, one_layer_less(found.facts, wait, 0), found.words)
        assert all(one.objections or one.untested for one in told if stands_on(one.certificate, wait)), str(wait)


@pytest.mark.parametrize("folder", FOLDERS)
def test_behind_the_read_a_wait_is_none(folder: str) -> None:
    """Where wait, read and use are in one block of one function, the wait at its end comes too late."""
    found = proofs(folder)
    for one in found.certificates:
        wait, use = one.wait[0], one.read[0]
        inside = {step.function for step in one.read} == {wait.function}
        if inside and same_block(found.facts[wait.function], wait, use):
            assert found.objections(at_the_end(found.facts, wait))[one], one.site


def same_block(function: FunctionFacts, one: Step, other: Step) -> bool:
    at = [{tuple(getattr(each, "at", ())) for each in block.instructions} for block in function.blocks]
    return any({(one.line, one.column), (other.line, other.column)} <= places for places in at)


def test_there_is_something_to_check() -> None:
    assert sum(len(proofs(folder).certificates) for folder in FOLDERS) > 60


STORY = "delegation/story"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda one: replace(one, read=tuple(replace(step, line=step.line + 400) for step in one.read)),
            "nothing happens",
        ),
        (lambda one: replace(one, armed=one.armed and replace(one.armed, line=1)), "no counter is registered"),
        (lambda one: replace(one, wait=one.wait[:-1] + one.read[-1:]), "nothing is waited for"),
        (lambda one: replace(one, read=one.read[-1:]), "in no function together"),
    ],
    ids=["no such place", "not armed there", "no wait", "apart"],
)
def test_a_false_certificate_is_refused(change: Callable[[Certificate], Certificate], said: str) -> None:
    found = proofs(STORY)
    one = next(one for one in found.certificates if one.armed and len(one.wait) > 1 and len(one.read) > 2)
    (opinion,) = verify([change(one)], found.facts, found.words)
    assert any(said in objection for objection in opinion.objections), opinion.objections


def changed(found: Proofs, name: str, **facts: object) -> Facts:
    """The facts with a function changed, known by the end of its qualified name."""
    (function,) = [one for one in found.facts if one.endswith(name)]
    return {**found.facts, function: found.facts[function]._replace(**facts)}  # type: ignore[arg-type]


def test_a_memoised_function_need_not_wait_nor_read_again() -> None:
    """Neither what it waited for nor what it returns is of the load at hand."""
    found = proofs("ungated-access/ok_waits")
    told = found.objections(changed(found, "KeyPool.get_key_buffer", decorators=("functools.lru_cache",)))
    outside = [why for one, why in told.items() if any(step.function.endswith("forward") for step in one.read)]
    assert outside
    assert all("can be reached without" in why[0] for why in outside)


def test_a_coroutine_that_nobody_awaits_waits_for_nothing() -> None:
    found = proofs("entry/awaited")
    for method in ("KeyPool.get_key_buffer", "KeyPool.get_value_buffer"):
        (function,) = [facts for name, facts in found.facts.items() if name.endswith(method)]
        blocks = tuple(
            block._replace(instructions=tuple(one for one in block.instructions if not isinstance(one, Await)))
            for block in function.blocks
        )
        told = found.objections(changed(found, method, blocks=blocks))
        fallen = [why for one, why in told.items() if any(step.function.endswith(method) for step in one.wait)]
        assert fallen, method
        assert all("does not await" in why[0] for why in fallen)


def test_a_loop_over_fewer_layers_does_not_wait_for_each() -> None:
    found = proofs("layers/waits_for_each")
    words = replace(found.words, counts=frozenset())
    told = verify(found.certificates, found.facts, words)
    assert all(one.objections for one in told)


EITHER = """
def get_key_buffer(self, layer_id):
    self.layer_transfer_counter.wait_until(layer_id)
    return self.k_buffer[layer_id]
def get_value_buffer(self, layer_id):
    self.layer_transfer_counter.wait_until(layer_id)
    return self.v_buffer[layer_id]
def get_raw_buffer(self, layer_id):
    return self.k_buffer[layer_id]
"""
READER = """
def serve(layer_id, rows, q, keys):
    pool = KeyPool(4)
    Controller(pool)
    if keys:
        first = pool.get_key_buffer(layer_id)
    else:
        first = pool.get_value_buffer({other})
    return q @ first @ pool.get_raw_buffer(layer_id)  # here
"""


def either(other: str = "layer_id") -> Proofs:
    return Proofs({"m": engine(EITHER, READER.format(other=other))})


def raw(found: Proofs) -> list[Certificate]:
    """The certificates of what stands on either of two waits."""
    return [one for one in found.certificates if one.beside]


def test_each_branch_has_a_wait_of_its_own() -> None:
    found = either()
    assert raw(found)
    assert not any(found.objections()[one] for one in raw(found))
    for wait in waits(found):
        told = found.objections(without(found.facts, wait))
        assert all(told[one] for one in raw(found)), str(wait)


def test_a_wait_beside_it_for_another_layer_is_none() -> None:
    found = either()
    for wait in waits(found):
        told = found.objections(one_layer_less(found.facts, wait, 0))
        assert all(told[one] for one in raw(found)), str(wait)
    assert not raw(either("layer_id + 1"))


def test_what_is_said_to_be_a_wait_beside_it_is_looked_at() -> None:
    found = either()
    (one, *_) = raw(found)
    aside = replace(one, wait=one.wait, beside=((one.read[0],),))
    assert verify([aside], found.facts, found.words)[0].objections


MEMO = "guards/ok_memo_reset"


def test_a_memo_is_right_where_nobody_tells_it_without_a_wait() -> None:
    found = proofs(MEMO)
    teller = found.facts["engine.KeyPool.get_key_buffer"]
    told = {**found.facts, "engine.KeyPool.tell": teller._replace(qualname="KeyPool.tell")}
    assert all(found.objections(told).values())


def test_a_memo_is_right_where_it_is_reset() -> None:
    found = proofs(MEMO)
    (reset,) = {step for one in found.certificates for step in one.resets}
    emptied = found.facts[reset.function]
    first = emptied.blocks[0]
    kept = first._replace(instructions=first.instructions[:1])
    assert all(found.objections({**found.facts, reset.function: emptied._replace(blocks=(kept,))}).values())
    never = [replace(one, resets=()) for one in found.certificates]
    assert all(opinion.objections for opinion in verify(never, found.facts, found.words))


def _changed(found: Proofs, name: str, change: Callable[[Instruction], Instruction]) -> Facts:
    function = found.facts[name]
    blocks = (one._replace(instructions=tuple(map(change, one.instructions))) for one in function.blocks)
    return {**found.facts, name: function._replace(blocks=tuple(blocks))}


def test_a_load_that_begins_behind_the_wait_makes_it_one_for_an_earlier_load() -> None:
    found = proofs("steps/ok_waited_behind_the_load")
    (wait,) = {step for one in found.certificates for step in one.wait if step.function == "engine.step"}
    calls = (one for one in found.facts[wait.function].blocks[0].instructions if isinstance(one, Call))
    begin = replace(wait, line=wait.line - 1, column=next(one.at.column for one in calls))
    assert not any(found.objections().values())
    assert all(found.objections(at_the_end(found.facts, begin)).values())


def test_a_switch_is_on_where_the_default_says_so() -> None:
    found = proofs("guards/ok_switch_at_its_default")
    off = _changed(found, "engine.KeyPool", lambda one: one._replace(value=False) if isinstance(one, Const) else one)
    objected = found.objections(off)
    assert not any(found.objections().values())
    assert {bool(objections) for one, objections in objected.items() if len(one.read) > 1} == {True, False}


def test_the_branch_of_other_classes_counts_for_objects_of_those_classes() -> None:
    found = proofs("guards/ok_kind_tested")
    others = [replace(one, kinds=("KVCache", "Reader")) for one in found.certificates if one.kinds]
    named = [
        one for one in others if "forward_if_it_can" not in {step.function.rpartition(".")[2] for step in one.read}
    ]
    assert named
    assert all(opinion.objections for opinion in verify(named, found.facts, found.words))
