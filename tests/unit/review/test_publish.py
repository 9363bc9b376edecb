"""Publishing against a GitHub that keeps the documented rules: what stands in the pull request after each situation."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from auditor.review import CLOSED, PUBLISHED, READ_ONLY, SUPERSEDED, HostError, Policy
from auditor.triage import Fix, Step
from tests.review.contracts import FLAVOURS
from tests.review.double import Fault
from tests.review.stage import (
    DELETION,
    FAR,
    GONE,
    NEXT,
    PATCH,
    POOL,
    READER,
    Stage,
    artifact,
    finding,
    stage,
)


@pytest.fixture(params=FLAVOURS)
def hub(request: pytest.FixtureRequest) -> Iterator[Stage]:
    with stage(flavour=request.param) as made:
        yield made


# ---------------------------------------------------------------- the first run


def test_nothing_introduced_is_a_check_run_and_no_comment(hub):
    assert hub.publish(artifact(fixed=(GONE,))).writes == 1
    (check,) = hub.double.checks
    assert (hub.double.comments, hub.double.notes, check.body["conclusion"]) == ([], [], "success")
    assert "3 errors in 50 sites" in check.body["output"]["summary"]
    assert "Fixed by this pull request: 1 finding" in check.body["output"]["summary"]


def test_a_finding_is_told_on_its_line_in_the_summary_and_in_the_check_run(hub):
    assert hub.publish(artifact(finding())).what == PUBLISHED
    (comment,) = hub.double.comments
    assert (comment.path, comment.line, comment.side) == (READER, 10, "RIGHT")
    assert "finding 1 reads <code>Pool.k_buffer</code> with no gate" in comment.body
    assert "1. [<code>engine/far.py" in comment.body
    assert "| in a comment |" in hub.summary()
    assert hub.double.checks[0].body["conclusion"] == "failure"
    assert hub.double.checks[0].annotations == [], "never twice on the same line"


def test_the_same_again_writes_nothing(hub):
    told = artifact(finding(1), finding(2, path=FAR, witness=(), gates=()), finding(3, severity="note"), fixed=(GONE,))
    assert hub.publish(told).writes > 0
    assert hub.publish(told).writes == 0


@pytest.mark.parametrize(
    ("problems", "severity", "conclusion"),
    [
        ((), "error", "failure"),
        ((), "warning", "neutral"),
        (("engine/broken.py:3: does not parse",), "error", "action_required"),
        (("engine/broken.py:3: does not parse",), "note", "action_required"),
    ],
)
def test_the_conclusion(hub, problems, severity, conclusion):
    hub.publish(artifact(finding(severity=severity), problems=problems))
    assert hub.double.checks[0].body["conclusion"] == conclusion


def test_a_note_gets_no_comment_of_its_own(hub):
    hub.publish(artifact(finding(severity="note")))
    assert (hub.double.comments, hub.double.notes) == ([], [])
    assert [one["annotation_level"] for one in hub.double.checks[0].annotations] == ["notice"]


def test_a_draft_gets_the_check_run_alone_unless_asked_otherwise(hub):
    hub.double.draft = True
    hub.publish(artifact(finding()))
    assert (hub.double.comments, hub.double.notes, len(hub.double.checks)) == ([], [], 1)
    hub.publish(artifact(finding()), Policy(drafts=True))
    assert len(hub.double.comments) == 1


def test_a_closed_pull_request_is_left_alone(hub):
    hub.double.state = "closed"
    outcome = hub.publish(artifact(finding()))
    assert (outcome.what, outcome.writes) == (CLOSED, 0)


# ---------------------------------------------------------------- where


@pytest.mark.parametrize(("first", "last"), [(10, 10), (9, 11)])
def test_a_fix_is_offered_on_the_lines_that_it_replaces(hub, first, last):
    hub.publish(artifact(finding(fix=Fix(READER, first, last, "    pool.wait(layer)", "pool.wait(layer)", "x.py:1"))))
    (comment,) = hub.double.comments
    assert comment.line == last
    assert "```suggestion\r\n    pool.wait(layer)\r\n```" in comment.body


def test_a_deleted_gate_is_where_a_reader_outside_of_the_diff_is_told(hub):
    hub.publish(artifact(finding(path=FAR, line=90, witness=(Step(FAR, 90, "reads", "engine.far.run"),))))
    (comment,) = hub.double.comments
    assert (comment.path, comment.line, comment.side) == (POOL, 31, "LEFT")


def test_a_file_of_the_path_is_told_where_no_line_is(hub):
    hub.publish(artifact(finding(line=90, witness=(), gates=())))
    (comment,) = hub.double.comments
    assert (comment.path, comment.line) == (READER, 0)


def test_what_has_no_place_in_the_diff_is_in_the_summary_and_an_annotation(hub):
    hub.publish(artifact(finding(path=FAR, line=90, witness=(), gates=())))
    assert hub.double.comments == []
    assert "engine/far.py:90" in hub.summary()
    assert [(one["path"], one["start_line"]) for one in hub.double.checks[0].annotations] == [(FAR, 90)]


def test_the_worst_get_the_comments_and_all_are_in_the_summary(hub):
    told = artifact(*(finding(number) for number in range(1, 40)))
    hub.publish(told, Policy(cap=30))
    assert (len(hub.double.comments), hub.double.reviews) == (30, ["bufgate: 39 findings introduced"] * 2)
    assert len(hub.double.checks[0].annotations) == 9
    assert all(f"finding {number} reads" in hub.summary() for number in range(1, 40))
    assert hub.publish(told, Policy(cap=30)).writes == 0


def test_a_path_that_is_no_text_is_shown(hub):
    """Paths are bytes; a host takes text."""
    hub.publish(artifact(finding(path="engine/\udcff.py", line=3, witness=(), gates=())))
    assert hub.double.checks[0].annotations[0]["path"] == "engine/\\udcff.py"


def test_more_annotations_than_one_request_takes(hub):
    told = artifact(*(finding(number, path=FAR, line=number, witness=(), gates=()) for number in range(1, 121)))
    hub.publish(told)
    assert [one["start_line"] for one in hub.double.checks[0].annotations] == list(range(1, 121))
    assert hub.publish(told).writes == 0


def test_a_place_that_is_refused_is_tried_again_and_then_told_in_the_summary(hub):
    hub.double.faults += [Fault("POST", "/reviews$", "before", 422, body={"message": "Unprocessable"})] * 2
    hub.publish(artifact(finding()))
    assert hub.double.comments == []
    assert "finding 1" in hub.summary()
    assert hub.publish(artifact(finding())).writes == 0, "not tried again at this commit"


# ---------------------------------------------------------------- later runs


def later(hub: Stage, *introduced, patch: str = PATCH, **changes):
    hub.double.push(NEXT, {READER: patch, POOL: DELETION})
    return hub.publish(artifact(*introduced, head=NEXT, **changes))


def test_a_finding_that_stays_keeps_its_comment(hub):
    hub.publish(artifact(finding()))
    body = hub.double.comments[0].body
    later(hub, finding())
    assert [one.body for one in hub.double.comments] == [body]
    assert NEXT[:12] in hub.summary()


def test_a_finding_that_is_fixed_is_struck_hidden_and_resolved(hub):
    hub.publish(artifact(finding()))
    hub.double.comments[0].replies.append(("ada", "thank you"))
    later(hub)
    (comment,) = hub.double.comments
    assert "~~**error: ungated-access**" in comment.body
    assert f"Fixed in <code>{NEXT[:12]}</code>" in comment.body
    assert (comment.hidden, bool(comment.resolved), comment.replies) == ("RESOLVED", True, [("ada", "thank you")])
    assert "nothing introduced" in hub.summary()
    assert hub.double.checks[-1].body["conclusion"] == "success"
    assert hub.publish(artifact(head=NEXT)).writes == 0


def test_without_the_right_to_hide_or_resolve_the_text_says_it(hub):
    hub.double.may = {"comments", "checks"}
    hub.publish(artifact(finding()))
    later(hub)
    assert "Fixed in" in hub.double.comments[0].body
    assert hub.publish(artifact(head=NEXT)).writes == 0


def test_half_an_audit_fixes_nothing(hub):
    hub.publish(artifact(finding()))
    later(hub, problems=("engine/reader.py:1: does not parse",))
    assert hub.live(finding().fingerprint)


def test_a_finding_that_comes_back_opens_its_comment_again(hub):
    hub.publish(artifact(finding()))
    later(hub)
    hub.double.push("d" * 40, {READER: PATCH})
    hub.publish(artifact(finding(), head="d" * 40))
    (comment,) = hub.double.comments
    assert (comment.hidden, comment.resolved) == ("", "")
    assert "It is back since" in comment.body


def test_a_comment_that_left_the_diff_is_told_anew_once(hub):
    hub.publish(artifact(finding()))
    later(hub, finding(line=9, witness=()), patch=PATCH.replace("ten is new", "ten is other").replace("nine", "new"))
    old, new = hub.double.comments
    assert (old.line, old.hidden, new.line) == (None, "OUTDATED", 9)
    assert "told anew" in old.body
    assert len(hub.live(finding().fingerprint)) == 1
    assert hub.publish(artifact(finding(line=9, witness=()), head=NEXT)).writes == 0


def test_a_comment_that_left_the_diff_stays_where_there_is_no_better_place(hub):
    hub.publish(artifact(finding()))
    hub.double.push(NEXT, {"engine/other.py": PATCH})
    hub.publish(artifact(finding(), head=NEXT))
    assert len(hub.double.comments) == 1
    assert hub.live(finding().fingerprint)


def test_a_thread_that_a_person_resolved_is_left_resolved(hub):
    hub.publish(artifact(finding()))
    hub.double.comments[0].resolved = "ada"
    later(hub, finding())
    assert hub.double.comments[0].resolved == "ada"
    assert "| in a resolved thread |" in hub.summary()


def test_a_suppression_closes_the_comment_with_its_reason(hub):
    hub.publish(artifact(finding()))
    later(hub, finding(status="suppressed", justification="decode only"))
    assert "Suppressed: decode only" in hub.double.comments[0].body
    assert "decode only" in hub.summary(), "a branch cannot hide what it suppresses"


def test_findings_of_one_function_are_one_comment(hub):
    """It says at each time which of them are open."""
    both = finding(1), finding(2, function=finding(1).function, buffer="v_buffer")
    hub.publish(artifact(*both))
    (comment,) = hub.double.comments
    assert "finding 1 reads" in comment.body
    assert "finding 2 reads" in comment.body
    assert hub.publish(artifact(*both)).writes == 0
    later(hub, both[1], problems=("engine/reader.py:1: does not parse",))
    assert hub.live(both[0].fingerprint), "half an audit fixes nothing"
    later(hub, both[1])
    assert len(hub.double.comments) == 1
    assert "finding 1 reads" not in comment.body
    assert "finding 2 reads" in comment.body
    assert (hub.live(both[0].fingerprint), len(hub.live(both[1].fingerprint))) == ([], 1)
    assert hub.publish(artifact(both[1], head=NEXT)).writes == 0


def test_people_are_not_written_to(hub):
    hub.double.say("<!-- bufgate:v1 kind=summary digest=0 -->\nI am the bot")
    hub.double.remark(READER, f"<!-- bufgate:v1 kind=finding members={finding().fingerprint} digest=0 -->\nhm")
    before = hub.double.by_people()
    hub.publish(artifact(finding()))
    later(hub)
    assert hub.double.by_people() == before


def test_a_mark_without_our_signature_is_no_mark():
    """In a workflow, other bots write as the same account; with a key their text cannot pass for ours."""
    with stage() as hub:
        hub.publish(artifact(finding()))
        hub.key = b"key"
        hub.publish(artifact(finding()))
        assert len(hub.double.comments) == 2
        hub.double.push(NEXT, {READER: PATCH})
        hub.publish(artifact(head=NEXT))
        assert ["Fixed" in one.body for one in hub.double.comments] == [False, True]


# ---------------------------------------------------------------- when things go wrong


def test_the_head_moved_before_anything_was_written(hub):
    hub.double.push(NEXT, {READER: PATCH})
    outcome = hub.publish(artifact(finding()))
    assert (outcome.what, outcome.writes) == (SUPERSEDED, 0)


def test_the_head_moves_while_we_write(hub):
    hub.double.on_write = lambda: setattr(hub.double, "head", NEXT)
    outcome = hub.publish(artifact(finding()))
    assert (outcome.what, outcome.writes) == (SUPERSEDED, 1)


@pytest.mark.parametrize("status", [500, 502, None])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("path", ["/reviews$", "/issues/7/comments$", "/check-runs$"])
def test_nothing_is_posted_twice(hub, path, when, status):
    """Whether a request that failed had its effect or not."""
    hub.double.faults.append(Fault("POST", path, when, status))
    hub.publish(artifact(finding(1), finding(2)))
    assert (len(hub.double.comments), len(hub.double.checks)) == (2, 1)
    assert "finding 2" in hub.summary()
    assert hub.publish(artifact(finding(1), finding(2))).writes == 0


def test_a_run_that_broke_off_between_annotations_is_taken_up():
    told = artifact(*(finding(number, path=FAR, line=number, witness=(), gates=()) for number in range(1, 121)))
    with stage() as hub:
        hub.double.faults += [Fault("PATCH", "/check-runs/", "before", 500)] * 20
        with pytest.raises(HostError):
            hub.publish(told)
        assert len(hub.double.checks[0].annotations) == 50
        hub.double.faults.clear()
        hub.publish(told)
        assert [one["start_line"] for one in hub.double.checks[0].annotations] == list(range(1, 121))


@pytest.mark.parametrize("may", [set(), {"checks"}, {"comments"}])
def test_what_a_token_may_not_is_left_out(hub, may):
    hub.double.may = may
    outcome = hub.publish(artifact(finding()))
    assert outcome.what == (PUBLISHED if may else READ_ONLY)
    assert (len(hub.double.comments), len(hub.double.checks)) == ("comments" in may, "checks" in may)


def test_pages_are_followed(hub):
    hub.double.page = 2
    hub.double.patches |= {f"a{number}.py": PATCH for number in range(7)}
    told = artifact(*(finding(number) for number in range(1, 9)))
    hub.publish(told)
    assert len(hub.double.comments) == 8
    assert hub.publish(told).writes == 0
