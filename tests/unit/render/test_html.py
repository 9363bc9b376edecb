"""HTML: one file, complete in itself, and of the same structure whatever the audited code is called."""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
import sys
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditor.render import FORMATS, Page
from auditor.triage import Report
from cuda_probe.evidence import Edge, Timeline
from tests.probe.observed import CONFIRMED, LOAD, ORDERED, RACE, READ, record
from tests.unit.render import sample
from tests.unit.render.test_formats import MARKS, dirtied

PAGE = Page(lines=sample.lines)


def seen(name: str, report: Report = sample.REPORT) -> Page:
    """A page with evidence of the first finding and of a claim that is none; all of its texts are the same."""
    load, read = replace(LOAD, name=name, site=(name,)), replace(READ, name=name, site=(name,))
    race = replace(RACE, buffer=name, first=load, second=read, missing_edge=name)
    raced = replace(CONFIRMED, races=(race,), buffers=(name,), timeline=Timeline((load, read)))
    proved = replace(ORDERED, path=(load, read), buffers=(name,), timeline=Timeline((load, read), (Edge(3, 7),)))
    claim = {"id": name, "class": name, "method": name, "scenario": name, "sites": [report.sites[0].id]}
    ours = [record(raced, **claim, finding=report.findings[0].fingerprint), record(proved, **claim, claim="gated")]
    return replace(PAGE, lines=lambda _path: [name] * 400, arguments=name, evidence=ours)


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
    return Structure(written(dirtied(name), seen(name, dirtied(name)))).elements


def written(report: Report = sample.REPORT, page: Page = PAGE) -> str:
    return FORMATS["html"](report, page)


@pytest.mark.parametrize(
    ("report", "page"),
    [(sample.REPORT, PAGE), (sample.CLEAN_REPORT, PAGE), (dirtied("x"), PAGE), (sample.REPORT, seen("x"))],
    ids=["rich", "clean", "dirty", "probed"],
)
def test_ids_are_unique_and_links_lead_somewhere(report: Report, page: Page) -> None:
    structure = Structure(written(report, page))
    assert len(set(structure.ids)) == len(structure.ids)
    assert {link.removeprefix("#") for link in structure.links} <= set(structure.ids)
    assert all(link.startswith("#") for link in structure.links)


def test_nothing_is_loaded() -> None:
    """No attribute that fetches, no address but the names of this page."""
    html = written(page=seen("x"))
    page = Structure(html)
    assert not {name for name, _ in page.values} & {"src", "srcset", "action", "data", "poster", "background", "style"}
    assert {value for _, value in page.values if "//" in value} == {"http://www.w3.org/2000/svg"}, "the name of SVG"
    assert not re.search(r"@import|url\((?!#(arrow|tip)-)", html)


@pytest.mark.parametrize(("page", "styles"), [(PAGE, 1), (seen("x"), 2)])
def test_the_policy_names_the_styles_and_the_script(page: Page, styles: int) -> None:
    """By the digests of what stands between the tags; inline handlers and other scripts have no right to run."""
    html = written(page=page)
    policy = dict(Structure(html).values)["content"]
    for tag, directive, count in (("style", "style-src", styles), ("script", "script-src", 1)):
        texts = re.findall(rf"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
        digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts]
        assert len(digests) == count
        assert " ".join([directive, *(f"'sha256-{digest}'" for digest in digests)]) in policy
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


def test_evidence_stands_with_its_finding() -> None:
    """With its label, in sentences and as a timeline; that of a claim which is no finding has a section of its own."""
    html = written(page=seen("x"))
    first, _, rest = html.partition('id="f2"')
    assert first.count('<svg class="timeline"') == 1
    assert first.count('class="missing" marker-end="url(#tip-') == 1
    assert "confirmed on sim" in first
    section = rest.partition('<section id="evidence"')[2].partition("</section>")[0]
    assert section.count('<svg class="timeline"') == 1
    assert 'class="edge proof"' in section
    assert 'href="#s1"' in section
    assert 'id="evidence"' not in written()


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
