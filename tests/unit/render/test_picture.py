"""The picture of a finding: what is drawn of a path, and in what order."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

from auditor.render.picture import picture, stops
from auditor.triage import ReportedFinding, Site
from tests.unit.render import sample

SITES = {site.id: site for site in sample.SITES}
BYPASSED = sample.FINDINGS[1]
SVG = "{http://www.w3.org/2000/svg}"


def drawn(finding: ReportedFinding = BYPASSED, sites: dict[str, Site] = SITES) -> ET.Element:
    source = picture(finding, sites, "f1").replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    return ET.fromstring(source)


def boxes(svg: ET.Element) -> list[tuple[str, str]]:
    """Class and title of each box, in order."""
    return [(box.attrib["class"], box.findall(f"{SVG}text")[0].text or "") for box in svg.findall(f"{SVG}g")]


def edges(svg: ET.Element) -> list[str]:
    return [line.attrib["class"] for line in svg.findall(f"{SVG}polyline")]


def test_steps_of_one_function_are_one_stop() -> None:
    assert [(stop.function.rpartition(".")[2], len(stop.steps)) for stop in stops(BYPASSED.witness)] == [
        ("run_batch", 1), ("forward_extend", 1), ("_ragged_topk", 2),
    ]  # fmt: skip


def test_the_path_leads_to_the_storage_and_the_load_is_not_waited_for() -> None:
    """Boxes for the functions, the load and the storage; one red edge, to the function that has to change."""
    svg = drawn()
    assert boxes(svg) == [
        ("stop", "1  Scheduler.run_batch"),
        ("stop", "2  ModelRunn…rward_extend"),
        ("culprit", "3  Indexer._ragged_topk"),
        ("load", "the load of a layer"),
        ("storage", "index_k_with_scale_buffer"),
    ]
    assert edges(svg) == ["call", "call", "call", "fill", "missing"]
    assert [text.text for text in svg.findall(f"{SVG}text")] == ["no wait"]


def test_gates_of_other_bindings_of_the_call_are_green() -> None:
    """The same call may bind to a method that waits: it is drawn beside the way that has no gate."""
    both = replace(SITES["s2"], bindings=(*SITES["s2"].bindings, sample.GATED))
    svg = drawn(sites={**SITES, "s2": both})
    assert [title for kind, title in boxes(svg) if kind == "gate"] == ["DeepSeekV4To…scale_buffer"]
    assert edges(svg)[-2:] == ["call", "gated"]
    assert "may bind to methods that wait" in (svg.findtext(f"{SVG}title") or "")


def test_a_finding_that_is_about_no_read_has_no_load() -> None:
    svg = drawn(replace(BYPASSED, check="signal-before-copy"))
    assert {kind for kind, _ in boxes(svg)} == {"stop", "culprit"}
    assert set(edges(svg)) == {"call"}


def test_words_tell_the_same() -> None:
    """Who cannot see the picture gets the path in one sentence, and each box in full."""
    svg = drawn()
    told = svg.findtext(f"{SVG}title") or ""
    assert told.startswith("Call path: 1  Scheduler.run_batch (scheduler.py:2410), then 2  ModelRunner.forward_extend")
    assert told.endswith("which the load fills; 3  Indexer._ragged_topk does not wait for it.")
    assert svg.attrib["aria-labelledby"] == "f1-title"
    assert (svg.findall(f"{SVG}g")[1].findtext(f"{SVG}title") or "").startswith("2  ModelRunner.forward_extend · ")


def test_text_fits_its_box_and_everything_fits_the_picture() -> None:
    """Letters of 7 pixels at most in a box of 178; the view box holds all points."""
    svg = drawn()
    left, top, width, height = map(float, svg.attrib["viewBox"].split())
    assert all(len(text.text or "") * 7 <= 178 for text in svg.iter(f"{SVG}text"))
    for line in svg.findall(f"{SVG}polyline"):
        for x, y in re.findall(r"([\d.-]+),([\d.-]+)", line.attrib["points"]):
            assert left <= float(x) <= left + width
            assert top <= float(y) <= top + height
