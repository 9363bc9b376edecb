"""Suppressions in the miniature engine, through the command."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.process import check, run


def comment(tree: Path, finding: dict[str, str | int], text: str) -> None:
    """Put a comment above the line of a finding."""
    path = tree / str(finding["path"])
    lines = path.read_text().split("\n")
    lines.insert(int(finding["line"]) - 1, text)
    path.write_text("\n".join(lines))


def statuses(done) -> dict[str, str]:
    return {one["check"]: one["status"] for one in done.report["findings"]}


def test_an_engine_without_suppressions_has_no_finding_about_them(undisturbed):
    assert not [one for one in statuses(undisturbed) if "suppression" in one]


def test_suppressed_findings_are_counted_and_do_not_fail(tree, undisturbed):
    errors = [one for one in undisturbed.report["findings"] if one["severity"] == "error"]
    assert len(errors) > 1
    for one in sorted(errors, key=lambda one: -int(one["line"])):  # a comment moves what stands below it
        comment(tree, one, f"# bufgate: ignore[{one['check']}] -- a planted hole")
    done = check(tree)
    suppressed = [one for one in done.report["findings"] if one["status"] == "suppressed"]
    assert [one["fingerprint"] for one in suppressed] == [one["fingerprint"] for one in errors]
    assert {one["justification"] for one in suppressed} == {"a planted hole"}
    assert not [one for one in statuses(done) if "suppression" in one]
    assert done.exit == 0
    told = run("check", tree, "--jobs", "1")
    assert "-- a planted hole" in told.stdout
    assert f"{len(errors)} known or suppressed" in told.stdout


def test_without_a_reason_nothing_is_suppressed(tree, undisturbed):
    first = undisturbed.report["findings"][0]
    comment(tree, first, f"# bufgate: ignore[{first['check']}]")
    done = check(tree)
    assert statuses(done)[first["check"]] == "new"
    assert statuses(done)["invalid-suppression"] == "new"
    assert done.exit == 1


def test_an_unused_suppression_fails_where_warnings_do(tree):
    (tree / "minikv/device.py").open("a").write("\nx = 1  # bufgate: ignore[noop-gate] -- nothing is here\n")
    done = check(tree)
    (found,) = (one for one in done.report["findings"] if one["check"] == "unused-suppression")
    assert (found["path"], found["severity"]) == ("minikv/device.py", "warning")
    told = run("check", tree, "--jobs", "1").stdout
    assert "warning[unused-suppression]: no `noop-gate` is found here" in told
