"""Whatever people and pushes do, wherever a run breaks off: each open finding has one live place, and nothing is lost.

The machine keeps a pull request of one file in which each finding reads on a line of its own. Lines move, change, go
and come back; people reply, resolve and write; runs crash before or after any write, requests fail on either side.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from auditor.review import Artifact, GitHub, HostError, Introduced, Policy, publish
from auditor.review.pull import Pull, Write
from tests.review.double import Double, Fault
from tests.review.stage import BASE, FAR, READER, Stage, artifact, finding

FINDINGS = range(1, 7)
TWINS = {6: 1}
"""A finding in the same function as another: they share a comment, on the line of the first."""
CAP = 3
"""Comments at a time: fewer than there are findings."""


class Crash(BaseException):
    """The end of a process, in the middle of a run."""


class Mortal:
    """A host that dies at a write, before or after it."""

    def __init__(self, stage: Stage, at: int, *, after: bool) -> None:
        self.host, self.left, self.after = stage.direct(), at, after

    def head(self) -> str:
        return self.host.head()

    def read(self) -> Pull:
        return self.host.read()

    def write(self, write: Write) -> None:
        self.left -= 1
        if self.left == 0 and not self.after:
            raise Crash
        self.host.write(write)
        if self.left == 0:
            raise Crash


class Machine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.versions: dict[int, int] = {}
        """The open findings, each with the version of its line; -1: it is read outside of the diff."""
        self.silent: set[int] = set()
        self.filler = 0
        self.commits = 0
        self.stage = Stage(Double(head="", base=BASE, patches={}), "")
        self.quiet = True
        """Whether nothing has happened since the last run."""

    @initialize()
    def first_commit(self) -> None:
        self.push()

    # ------------------------------------------------------------ commits

    def push(self) -> None:
        self.commits += 1
        self.quiet = False
        lines = [f"+filler {number}" for number in range(self.filler)]
        lines += [f"+read {one} as of {version}" for one, version in sorted(self.versions.items()) if version >= 0]
        patch = "\n".join([f"@@ -1,1 +1,{len(lines) + 1} @@", *lines, " the end"])
        self.stage.double.push(f"{self.commits:040x}", {READER: patch})

    def told(self) -> Artifact:
        return artifact(*map(self.finding, sorted(self.versions)), head=self.stage.double.head)

    def finding(self, one: int) -> Introduced:
        inside = [number for number, version in sorted(self.versions.items()) if version >= 0]
        status = {"status": "suppressed", "justification": "because"} if one in self.silent else {}
        same = {"function": f"engine.reader.read_{TWINS.get(one, one)}"}
        if one not in inside:
            return finding(one, path=FAR, line=5, witness=(), gates=(), **same, **status)
        return finding(one, line=self.filler + inside.index(one) + 1, witness=(), gates=(), **same, **status)

    @rule(one=st.sampled_from(FINDINGS), outside=st.booleans())
    def introduce(self, one: int, outside: bool) -> None:
        self.versions.setdefault(one, -1 if outside else 0)
        self.push()

    @rule(one=st.sampled_from(FINDINGS))
    def fix(self, one: int) -> None:
        self.versions.pop(one, None)
        self.silent.discard(one)
        self.push()

    @rule(one=st.sampled_from(FINDINGS))
    def rewrite_its_line(self, one: int) -> None:
        if one in self.versions:
            self.versions[one] = self.commits
            self.push()

    @rule(one=st.sampled_from(FINDINGS))
    def leave_the_diff(self, one: int) -> None:
        if one in self.versions:
            self.versions[one] = -1
            self.push()

    @rule(one=st.sampled_from(FINDINGS))
    def suppress(self, one: int) -> None:
        if one in self.versions:
            self.silent ^= {one}
            self.push()

    @rule(more=st.integers(0, 3))
    def move_lines(self, more: int) -> None:
        self.filler = more
        self.push()

    @rule()
    def rebase(self) -> None:
        self.push()

    # ------------------------------------------------------------ people

    @rule()
    def write(self) -> None:
        self.stage.double.say("<!-- bufgate:v1 kind=summary digest=0 -->\nlooks good")
        self.stage.double.remark(READER, "why?")

    @precondition(lambda self: self.stage.double.ours())
    @rule(data=st.data())
    def reply_and_resolve(self, data: st.DataObject) -> None:
        comment = data.draw(st.sampled_from(self.stage.double.ours()))
        comment.replies.append(("ada", "done"))
        comment.resolved = "ada"
        self.quiet = False  # the summary says so

    # ------------------------------------------------------------ runs

    @rule()
    def publish(self) -> None:
        self.run_to_the_end()

    @rule(at=st.integers(1, 12), after=st.booleans())
    def crash(self, at: int, after: bool) -> None:
        try:
            self.run(Mortal(self.stage, at, after=after))
        except Crash:
            self.quiet = False

    @rule(
        kind=st.sampled_from(["/reviews$", "/comments", "/check-runs", "/graphql"]),
        method=st.sampled_from(["POST", "PATCH"]),
        when=st.sampled_from(["before", "after"]),
        status=st.sampled_from([500, 503, None]),
        times=st.integers(1, 3),
    )
    def fail(self, kind: str, method: str, when: str, status: int | None, times: int) -> None:
        self.stage.double.faults += [Fault(method, kind, when, status) for _ in range(times)]  # type: ignore[arg-type]
        self.run_to_the_end()

    def run(self, host: Mortal | None = None) -> None:
        publish(
            self.stage.review(self.told(), Policy(cap=CAP)), host or self.stage.direct(), say=self.stage.said.append
        )

    def run_to_the_end(self) -> None:
        people = self.stage.double.by_people()
        try:
            self.run()
        except HostError:
            self.stage.double.faults.clear()
            self.run()
        self.stage.double.faults.clear()
        self.quiet = True
        assert self.stage.double.by_people() == people

    # ------------------------------------------------------------ what holds

    @invariant()
    def nothing_breaks_the_contract(self) -> None:
        assert self.stage.double.violations == []

    @invariant()
    def each_open_finding_has_one_place_and_no_other_has_any(self) -> None:
        if not self.quiet:
            return
        open_ = [one for one in sorted(self.versions) if one not in self.silent]
        summary = self.stage.summary()
        for one in FINDINGS:
            live = self.stage.live(f"{one:016x}")
            if one not in open_:
                assert live == [], "closed when it is fixed or suppressed"
                continue
            assert len(live) <= 1, "no duplicates"
            assert f"finding {one} reads" in summary, "nothing is lost"
            twins = sorted({one, *TWINS, *TWINS.values()}) if one in (*TWINS, *TWINS.values()) else [one]
            alone = not [other for other in twins if other != one and other in self.versions]
            if alone and one in open_[:CAP] and self.versions[one] >= 0:
                assert [comment.line for comment in live] == [self.finding(one).line], "on the line where it is now"
            checks = [run for run in self.stage.double.checks if run.head == self.stage.double.head]
            annotated = [note["title"] for run in checks[-1:] for note in run.annotations]
            assert live or annotated, "told on a line, in the diff or in the check run"
        for one in self.silent:
            assert not summary or f"finding {one} reads" in summary, "what is suppressed is told as well"

    @invariant()
    def the_same_again_writes_nothing(self) -> None:
        if self.quiet:
            before = self.stage.double.writes
            self.run()
            assert self.stage.double.writes == before


def test_whatever_happens() -> None:
    run_state_machine_as_test(Machine, settings=settings(max_examples=50, stateful_step_count=25, deadline=None))


def test_the_machine_notices_a_bot_that_forgets(monkeypatch: pytest.MonkeyPatch) -> None:
    """A publisher that does not find its own comments again posts twice: the invariants must say so."""
    read = GitHub.read
    monkeypatch.setattr(GitHub, "read", lambda host: replace(read(host), comments=()))
    with pytest.raises(AssertionError):
        run_state_machine_as_test(
            Machine, settings=settings(max_examples=50, database=None, deadline=None, phases=[Phase.generate])
        )
