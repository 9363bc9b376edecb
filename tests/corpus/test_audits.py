"""The findings of releases that were read by hand: the pages in docs/ file what the tool prints, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.corpus.audits import ROOT, audit_release

pytestmark = pytest.mark.corpus

PAGES = sorted(ROOT.glob("docs/audit-*-*.md"))
GONE = "False, and what keeps it out"
"""The heading of what was told before the reading, and is told no more."""
_FINGERPRINT = re.compile(r"`([0-9a-f]{16})`")


def release_of(page: Path) -> str:
    """``docs/audit-NAME-VERSION.md``"""
    name, _, version = page.stem.removeprefix("audit-").rpartition("-")
    return f"{name}=={version}"


def filed(page: Path) -> dict[str, set[str]]:
    """The fingerprints of a page by its headings."""
    parts = re.split(r"^## (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {heading: set(_FINGERPRINT.findall(text)) for heading, text in zip(parts[1::2], parts[2::2], strict=True)}


@pytest.fixture(params=PAGES, ids=release_of)
def page(request: pytest.FixtureRequest) -> Path:
    page: Path = request.param
    return page


def told(report: dict[str, Any]) -> set[str]:
    return {one["fingerprint"] for one in report["findings"] if one["severity"] != "note"}


def test_every_error_and_warning_is_filed_and_what_is_filed_is_told(release, page: Path) -> None:
    release(release_of(page))
    found = told(audit_release(release_of(page)).report)
    known = set().union(*(prints for heading, prints in filed(page).items() if heading != GONE))
    assert (found - known, known - found) == (set(), set())


def test_what_was_false_is_told_no_more(release, page: Path) -> None:
    release(release_of(page))
    assert filed(page).get(GONE, set()) & told(audit_release(release_of(page)).report) == set()


def test_fewer_than_one_in_ten_are_filed_as_false(page: Path) -> None:
    headings = filed(page)
    false = set().union(
        *(prints for heading, prints in headings.items() if heading.startswith("False") and heading != GONE)
    )
    all_told = set().union(*(prints for heading, prints in headings.items() if heading != GONE))
    assert all_told
    assert len(false) * 10 < len(all_told)


def test_at_most_one_in_ten_sites_of_the_product_is_unknown(release, page: Path) -> None:
    release(release_of(page))
    product = [site for site in audit_release(release_of(page)).report["sites"] if site["role"] == "product"]
    assert sum(site["verdict"] == "unknown" for site in product) * 10 <= len(product)
