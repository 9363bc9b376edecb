"""Fingerprints of the miniature engine survive every edit that changes no meaning."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditor.audit import Options, audit
from auditor.source import open_tree
from auditor.triage import Report, baseline_of, compare
from tests.unit.triage.edits import EDITS, Edit

ENGINE = Path(__file__).resolve().parents[3] / "fixtures" / "engine" / "minikv"
FILES = {file.name: file.read_text(encoding="utf-8") for file in sorted(ENGINE.glob("*.py"))}


def audited(folder: Path, files: dict[str, str]) -> Report:
    package = folder / "minikv"
    package.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (package / name).write_text(text, encoding="utf-8")
    return audit(open_tree([folder]), Options(jobs=1, timing=False))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("engine")


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return audited(tmp_path_factory.mktemp("before"), FILES)


def test_there_is_something_to_tell(before: Report) -> None:
    assert len({one.check for one in before.findings}) > 3


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
def test_each_edit_changes_the_text(edit: Edit) -> None:
    assert any(edit(text, random.Random(1)) != text for text in FILES.values())


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.lists(st.tuples(st.sampled_from(sorted(FILES)), st.sampled_from(EDITS)), min_size=1))
def test_edits_that_change_no_meaning(place: Path, before: Report, seed: int, edits: list[tuple[str, Edit]]) -> None:
    chance = random.Random(seed)
    files = dict(FILES)
    for name, edit in edits:
        files[name] = edit(files[name], chance)
    after = compare(audited(place, files), baseline_of(before))
    assert (after.new, after.worse, after.gone, after.unknown) == ((), (), (), 0)


def test_waits_that_are_taken_out_are_seen(place: Path, before: Report) -> None:
    """The test above can fail; and what was there before is still told beside them."""
    wait = "        self._wait_for_layer(layer_id)\n"
    files = {**FILES, "router.py": FILES["router.py"].replace(wait, "")}
    after = compare(audited(place, files), baseline_of(before))
    assert (after.worse, after.gone) == ((), ())
    assert {one.function for one in after.new} == {
        "minikv.router.RouterPool.get_key_buffer",
        "minikv.router.RouterPool.get_value_buffer",
    }
