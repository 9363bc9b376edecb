"""HTML: one file, complete in itself, and of the same structure whatever the audited code is called."""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
import sys
from functools import cache
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditor.render import FORMATS, Page
from auditor.triage import Report
from tests.unit.render import sample
from tests.unit.render.test_formats import MARKS, dirtied

PAGE = Page(lines=sample.lines)


class Structure(HTMLParser):
    """Elements with the names of their attributes; ids and links; text of elements."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, ...]] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.values: list[tuple[str, str]] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("wbr", "code"):  # a name may break at a slash, and what is in backticks is code
            self.elements.append((tag, *sorted(name for name, _ in attrs)))
        self.values += [(name, value or "") for name, value in attrs]
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.links += [value or "" for name, value in attrs if name == "href"]


@cache
def structure(name: str) -> list[tuple[str, ...]]:
    """The elements of a page on which everything is called so."""
    return Structure(written(dirtied(name), Page(lines=lambda _path: [name] * 400, arguments=name))).elements


def written(report: Report = sample.REPORT, page: Page = PAGE) -> str:
    return FORMATS["html"](report, page)


@pytest.mark.parametrize("report", [sample.REPORT, sample.CLEAN_REPORT, dirtied("x")], ids=["rich", "clean", "dirty"])
def test_ids_are_unique_and_links_lead_somewhere(report: Report) -> None:
    page = Structure(written(report))
    assert len(set(page.ids)) == len(page.ids)
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids)
    assert all(link.startswith("#") for link in page.links)


def test_nothing_is_loaded() -> None:
    """No attribute that fetches, no address but the names of this page."""
    page = Structure(written())
    assert not {name for name, _ in page.values} & {"src", "srcset", "action", "data", "poster", "background", "style"}
    assert not [value for _, value in page.values if "//" in value]
    assert not re.search(r"@import|url\((?!#arrow-)", written())


def test_the_policy_names_the_style_and_the_script() -> None:
    """By the digests of what stands between the tags; inline handlers and other scripts have no right to run."""
    html = written()
    policy = dict(Structure(html).values)["content"]
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        (text,) = re.findall(rf"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ")


@given(
    st.text(st.characters(), max_size=8),
    st.sampled_from([*MARKS, "' onload='x", '" onload="x', "<!--", "{{ 1 }}", "</"]),
)
@settings(max_examples=50)
def test_no_text_changes_the_structure(noise: str, mark: str) -> None:
    """The same elements with the same attributes as for a harmless name, in every place where text is shown."""
    dirty = f"x{noise}{mark}"
    assert structure(dirty) == structure("x")


def test_every_part_is_there() -> None:
    """Overview, findings with their paths, matrices, sites, what is unknown and why, gates, objects, coverage."""
    html = written()
    for part in ("overview", "findings", "pools", "sites", "unknown", "gates", "objects", "coverage"):
        assert f'<section id="{part}"' in html
    assert html.count('<svg class="picture') == sum(bool(finding.witness) for finding in sample.FINDINGS)
    assert "no class could be found that the receiver may have" in html
    assert '<a href="#check-bypassed-owner">' in html
    assert "An ungated read round the owner of a buffer." in html
    assert "4,719 files seen, 412 parsed" in html
    assert "2 files left out: links out of the root" in html


def test_findings_that_count_are_open() -> None:
    """Notes, known, suppressed and unsure ones wait until they are asked for."""
    openings = re.findall(
        r'<details class="item finding" id="f\d+" data-level="(\w+)" data-status="\w+"( open)?>', written()
    )
    assert len(openings) == len(sample.FINDINGS)
    assert [level for level, opened in openings if opened] == ["warning", "error"]


def test_jinja_is_imported_when_a_page_is_written_and_not_before() -> None:
    """A hook that prints text does not pay for it."""
    code = "import sys, auditor.interfaces.cli, auditor.render; sys.exit('jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
