"""Schedules decide what is read, never what is ordered, and can be made again from their names."""

from collections import Counter

import pytest

from cuda_probe.sim import Choices, Earliest, Latest, Random, Starve, explore, schedule_named
from tests.probe.programs import POISON, TRUTH, Load


def outcome(schedule, gated):
    load = Load(schedule)
    load.copy()
    load.arrived.record(load.stream)
    if gated:
        load.device.default_stream.wait_event(load.arrived)
    seen = load.read()
    return "ok" if seen == TRUTH else "stale" if seen == POISON else "torn"


def test_all_schedules_of_the_toy():
    """Two pieces of a copy and a record against a read and its way to the host: ten interleavings, one if gated."""
    assert Counter(result for result, _ in explore(lambda schedule: outcome(schedule, False))) == {
        "stale": 4,
        "torn": 3,
        "ok": 3,
    }
    assert Counter(result for result, _ in explore(lambda schedule: outcome(schedule, True))) == {"ok": 1}


def test_exploring_tries_both_answers_of_a_query():
    """Whether an event is done when the host asks is a choice as well."""

    def program(schedule):
        load = Load(schedule)
        load.copy()
        load.arrived.record(load.stream)
        return load.arrived.query()

    assert {answer for answer, _ in explore(program)} == {False, True}


def test_exploring_says_when_there_are_too_many():
    """It never stops early in silence."""
    with pytest.raises(RuntimeError, match="more than 3 schedules"):
        list(explore(lambda schedule: outcome(schedule, False), limit=3))


def test_every_race_has_a_witness():
    """Starving the first access of a race that a lucky run proved makes the read wrong."""
    lucky = Load(Earliest())
    lucky.copy()
    assert lucky.read() == TRUTH
    for race in lucky.device.races:
        witness = Load(Starve(race.first.number))
        witness.copy()
        assert witness.read() != TRUTH


@pytest.mark.parametrize(
    "schedule", [Latest(), Earliest(), Random(7), Random(7, 0.2), Starve(3)], ids=lambda schedule: schedule.name
)
def test_a_schedule_can_be_made_again_from_its_name(schedule):
    """The same name gives the same outcome."""
    again = schedule_named(schedule.name)
    assert again.name == schedule.name
    assert outcome(schedule, False) == outcome(again, False)


def test_choices_can_be_made_again_from_their_name():
    """Every outcome of the search is replayed by the name of its schedule."""
    for result, schedule in explore(lambda schedule: outcome(schedule, False)):
        assert outcome(schedule_named(schedule.name), False) == result


@pytest.mark.parametrize("name", ["", "later", "random:x", "starve:", "latest:1", "choices:a"])
def test_a_name_that_is_none_is_refused(name):
    """With the names there are, or what cannot be read."""
    with pytest.raises(ValueError, match=r"no schedule is called|cannot be read"):
        schedule_named(name)


def test_choices_of_another_program_are_refused():
    """A choice that does not exist is told, not bent."""
    with pytest.raises(ValueError, match="belongs to another program"):
        outcome(Choices([9]), False)
