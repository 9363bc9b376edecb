"""One check id, one file, one fixture folder, one heading in docs/checks.md, one name everywhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from auditor.checks import CHECKS
from auditor.render import documented
from auditor.triage import PROOF_LOST, SUPPRESSION_CHECKS

IDS = [check.id for check in CHECKS]


def test_ids_are_kebab_case_and_unique() -> None:
    assert len(set(IDS)) == len(IDS)
    assert [each for each in IDS if not re.fullmatch(r"[a-z]+(-[a-z]+)*", each)] == []


@pytest.mark.parametrize("check", IDS)
def test_check_is_a_file(root: Path, check: str) -> None:
    assert (root / "auditor" / "checks" / f"{check.replace('-', '_')}.py").is_file()


@pytest.mark.parametrize("check", IDS)
def test_check_has_fixtures(root: Path, check: str) -> None:
    """At least one case that is flagged, in a folder of the check's name."""
    notes = [note for file in (root / "fixtures" / check).rglob("*.py") for note in file.read_text().splitlines()]
    assert [note for note in notes if re.search(rf"# (finding|latent|missed): {check}\b", note)]


def test_docs_have_exactly_these_headings_in_this_order(root: Path) -> None:
    headings = re.findall(r"^## `?([a-z-]+)`?$", (root / "docs" / "checks.md").read_text(), flags=re.MULTILINE)
    assert headings == [*IDS, PROOF_LOST, *SUPPRESSION_CHECKS]


@pytest.mark.parametrize("check", [*IDS, PROOF_LOST, *SUPPRESSION_CHECKS])
def test_docs_have_a_bad_and_a_good_example(root: Path, check: str) -> None:
    section = documented((root / "docs" / "checks.md").read_text())[check]
    example = re.findall(r"^```python\n(.*?)^```$", section, flags=re.MULTILINE | re.DOTALL)
    assert [word for word in ("# bad", "# good") if word not in "".join(example)] == []
    assert section.startswith(("Error. ", "Warning. ", "Warning, ", "Note. "))
