"""The queue of a webhook: nothing is lost, nothing is done twice, and what is news comes last."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor.interfaces.deliveries import FILE, REMEMBERED, Deliveries


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / FILE


@pytest.fixture
def queue(file: Path) -> Deliveries:
    return Deliveries(file)


def test_first_come_first_served(queue):
    queue.add("a", 7)
    queue.add("b", 8)
    numbers = []
    while work := queue.next():
        numbers.append(work.number)
        queue.end(work, well=True)
    assert numbers == [7, 8]


def test_what_waits_for_one_pull_request_is_one_work(queue):
    queue.add("a", 7)
    queue.add("b", 7)
    queue.end(queue.next(), well=True)
    assert queue.next() is None


def test_what_comes_in_during_the_work_is_done_after_it(queue):
    queue.add("a", 7)
    work = queue.next()
    queue.add("b", 7)
    queue.end(work, well=True)
    assert queue.next().number == 7


def test_what_was_not_ended_is_there_for_the_next_server(queue, file):
    queue.add("a", 7)
    assert queue.next()
    assert Deliveries(file).next() == queue.next()


def test_a_delivery_that_was_done_is_not_done_again(queue):
    assert queue.add("a", 7)
    assert not queue.add("a", 7), "it waits already"
    queue.end(queue.next(), well=True)
    assert not queue.add("a", 7)
    assert queue.next() is None


def test_a_delivery_that_failed_is_done_when_it_comes_again(queue):
    queue.add("a", 7)
    queue.end(queue.next(), well=False)
    assert queue.next() is None
    assert queue.add("a", 7)
    assert queue.next().number == 7


def test_it_does_not_grow_for_ever_and_forgets_nothing_that_waits(queue, monkeypatch):
    assert REMEMBERED > 1000
    monkeypatch.setattr("auditor.interfaces.deliveries.REMEMBERED", 2)
    queue.add("waits", 9)
    for name in "abcd":
        queue.add(name, 7)
    work = queue.next()
    assert work.number == 9
    queue.end(work._replace(number=7, place=99), well=True)
    assert [queue.add(name, 7) for name in "abcd"] == [True, True, False, False]
    assert queue.next().number == 9


def test_git_does_not_see_it(queue, file):
    assert (file.parent / ".gitignore").read_text() == "*\n"
