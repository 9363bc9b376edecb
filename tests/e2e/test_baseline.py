"""The baseline of the miniature engine, through the commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.process import Done, check, run

WAIT = "        self._wait_for_layer(layer_id)\n"
FORGETS = "        # Forgets to wait: the wait of the inner pool is dead code for this object.\n"


def baseline(verb: str, tree: Path, *more: str) -> Done:
    return run("baseline", verb, *more, "--jobs", "1", "--quiet", cwd=tree)


@pytest.fixture
def accepted(tree: Path) -> Path:
    """The engine with everything accepted; its baseline lies in the working directory."""
    assert baseline("write", tree).exit == 0
    return tree


def file(tree: Path) -> Path:
    return tree / "bufgate-baseline.json"


def edit(tree: Path, name: str, old: str, new: str) -> None:
    path = tree / "minikv" / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def statuses(done: Done) -> set[tuple[str, str]]:
    return {(one["check"], one["status"]) for one in done.report["findings"]}


def test_write_lists_what_it_hides_and_check_is_green_after_it(tree, undisturbed):
    done = baseline("write", tree)
    findings = undisturbed.report["findings"]
    assert done.stdout.startswith(f"bufgate-baseline.json accepts {len(findings)} findings:\n")
    assert all(f"{one['path']}:{one['line']}  {one['severity']}[{one['check']}]" in done.stdout for one in findings)
    told = check(cwd=tree)
    assert told.exit == 0
    assert {one["status"] for one in told.report["findings"]} == {"known"}
    text = run("check", "--jobs", "1", cwd=tree).stdout
    assert f"baseline bufgate-baseline.json: {len(findings)} known, 0 new" in text


def test_without_the_baseline_they_are_told(accepted):
    assert check("--no-baseline", cwd=accepted).exit == 1


def test_a_new_hole_fails(accepted):
    edit(accepted, "router.py", WAIT, "")
    done = check(cwd=accepted)
    assert done.exit == 1
    assert {status for _, status in statuses(done)} == {"known", "new"}
    told = baseline("show", accepted).stdout
    assert "new    minikv/router.py" in told
    assert "known  minikv/router.py" in told


def test_what_is_mended_is_reported_until_it_is_pruned(accepted):
    edit(accepted, "router.py", FORGETS, "        self._wait_for_layer(layer.layer_id)\n")
    text = run("check", "--jobs", "1", cwd=accepted).stdout
    assert "gone since the baseline: minikv/router.py:53  error[disarmed-gate]" in text
    assert "`bufgate baseline prune` takes them out" in text
    before = json.loads(file(accepted).read_text())
    done = baseline("prune", accepted)
    assert f"1 of {len(before['entries'])} findings gone" in done.stdout
    after = json.loads(file(accepted).read_text())
    assert [one for one in before["entries"] if one not in after["entries"]] == [
        one for one in before["entries"] if one["check"] == "disarmed-gate"
    ]
    assert "gone" not in run("check", "--jobs", "1", cwd=accepted).stdout


def test_prune_adds_nothing_and_update_does(accepted):
    edit(accepted, "router.py", WAIT, "")
    before = file(accepted).read_bytes()
    baseline("prune", accepted)
    assert file(accepted).read_bytes() == before
    done = baseline("update", accepted)
    assert "  + minikv/router.py" in done.stdout
    assert check(cwd=accepted).exit == 0


def test_a_class_that_joins_is_told_again(accepted):
    """Its storage and its function are in the baseline; objects of this class were not."""
    edit(accepted, "pools.py", "class DraftPool", "class WidePool(LatentPool):\n    pass\n\n\nclass DraftPool")
    edit(accepted, "router.py", "LatentPool", "WidePool")
    done = check(cwd=accepted)
    assert done.exit == 1
    assert ("disarmed-gate", "new") in statuses(done)
    text = run("check", "--jobs", "1", cwd=accepted).stdout
    assert "known before, and worse now: it concerns WidePool, too" in text


def test_migrate_follows_a_check_of_another_name(accepted):
    text = file(accepted).read_text()
    (entry,) = (one for one in json.loads(text)["entries"] if one["check"] == "disarmed-gate")
    file(accepted).write_text(text.replace("disarmed-gate", "dead-gate").replace(entry["fingerprint"], "0" * 16))
    assert check(cwd=accepted).exit == 1
    done = baseline("migrate", accepted)
    assert "  - minikv/router.py:53  error[dead-gate]" in done.stdout
    assert "  + minikv/router.py:53  error[disarmed-gate]" in done.stdout
    assert file(accepted).read_text() == text


def test_migrate_accepts_nothing_else(accepted):
    edit(accepted, "router.py", WAIT, "")
    before = file(accepted).read_bytes()
    baseline("migrate", accepted)
    assert file(accepted).read_bytes() == before


def test_write_does_not_replace_a_file(accepted):
    before = file(accepted).read_bytes()
    done = baseline("write", accepted)
    assert (done.exit, done.stdout) == (2, "")
    assert "`bufgate baseline update` changes it" in done.stderr
    assert file(accepted).read_bytes() == before


@pytest.mark.parametrize("verb", ["write", "update", "prune", "migrate"])
def test_half_an_audit_changes_nothing(tree, accepted, verb):
    if verb == "write":
        file(accepted).unlink()
    before = file(accepted).read_bytes() if file(accepted).exists() else None
    (accepted / "minikv/broken.py").write_text("def read(pool):\n    return pool.get_key_buffer(\n")
    done = baseline(verb, accepted)
    assert done.exit == 2
    assert "the audit is not complete" in done.stderr
    assert "minikv/broken.py" in done.stderr
    assert (file(accepted).read_bytes() if file(accepted).exists() else None) == before


@pytest.mark.parametrize("verb", ["update", "prune", "migrate", "show"])
def test_there_has_to_be_one(tree, verb):
    done = baseline(verb, tree)
    assert done.exit == 2
    assert "`bufgate baseline write` makes it" in done.stderr


def test_one_that_is_named_has_to_be_there(tree):
    assert check("--baseline", "nowhere.json", cwd=tree).exit == 2
    (tree / "bufgate.toml").write_text('baseline = "nowhere.json"\n')
    assert "nowhere.json does not exist" in check(cwd=tree).stderr


def test_a_damaged_one_is_refused(accepted):
    file(accepted).write_text("{}")
    done = check(cwd=accepted)
    assert (done.exit, done.stdout) == (2, "")
    assert "no baseline of this version" in done.stderr


def test_the_file_of_the_configuration(tree):
    (tree / "bufgate.toml").write_text('baseline = "ci/accepted.json"\n')
    (tree / "ci").mkdir()
    assert baseline("write", tree).exit == 0
    assert (tree / "ci/accepted.json").is_file()
    assert check("minikv", cwd=tree).exit == 0, "paths may be told from another root, names are the same"
