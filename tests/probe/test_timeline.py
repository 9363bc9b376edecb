"""Pictures of evidence: load, signal, gate and read in their lanes, the proof or the missing edge, and nothing
unescaped."""

import json
import re
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest

from cuda_probe.cli import main
from cuda_probe.evidence import Timeline
from cuda_probe.timeline import page, svg
from tests.probe import observed

HOSTILE = "<script>alert('x')</script>&\"'"


def operation(number, agent, kind, name, site=()):
    return {"number": number, "agent": agent, "kind": kind, "name": name, "site": list(site)}


LOAD = operation(3, "stream 1", "copy", "load of a layer that has a long name", ["engine/loader.py:7 load"])
SIGNAL = operation(4, "stream 1", "record", "event 2.1")
OTHER = operation(5, "stream 1", "copy", "another layer")
GATE = operation(6, "stream 0", "wait", "event 2.1")
READ = operation(7, "stream 0", "kernel", "read")


def record(*, ordered, name="Pool"):
    operations = [LOAD, SIGNAL, OTHER, *([GATE] if ordered else []), READ]
    race = {"kind": "RAW", "buffer": name, "first": LOAD, "second": READ, "missing_edge": f"{name} has no edge"}
    return {
        "backend": {"kind": "sim"},
        "experiment": {"id": "x", "scenario": "base", "class": name, "method": "get"},
        "label": "ordered on sim" if ordered else "confirmed on sim",
        "verdict": "ordered" if ordered else "confirmed",
        "trials": {"trials": 20, "wrong": 0 if ordered else 9, "torn": 0, "raced": 0 if ordered else 20, "early": 0},
        "races": [] if ordered else [{**race, "witness": "starve:3", "witness_wrong": 8, "bytes": 8}],
        "path": [LOAD, SIGNAL, GATE, READ] if ordered else [],
        "layer": 3,
        "buffers": [name],
        "timeline": {"operations": operations, "edges": [{"before": 4, "after": 6}] if ordered else []},
    }


def drawn(one):
    """The picture as XML: it has to be well-formed."""
    return ElementTree.fromstring(svg(one, "x"))


def classes(picture):
    return [element.get("class", "") for element in picture.iter() if element.get("class")]


def roles(picture):
    """What operations are to the claim, from left to right."""
    return [element.text for element in picture.iter() if "role" in element.get("class", "").split()]


def test_a_load_that_overtakes_is_the_later_end():
    """Of a load over a read, and over a write."""
    one = record(ordered=False)
    for kind, expected in (("WAR", ["read", "signal", "load"]), ("WAW", ["write", "signal", "load"])):
        one["races"][0]["kind"] = kind
        assert roles(drawn(one)) == expected


def test_the_picture_is_told_in_words():
    """For people who do not see it: its title has the label, what was counted, and the race or the proof."""
    for one, expected in ((record(ordered=False), "Pool has no edge"), (record(ordered=True), "then #7 kernel read")):
        title = drawn(one).find("{*}title").text
        assert title.startswith(one["label"])
        assert expected in title


def test_a_race_is_drawn_with_the_edge_that_is_missing():
    """A dashed arrow from the load to the read, and the signal that nobody waited for."""
    picture = drawn(record(ordered=False))
    assert classes(picture).count("missing") == 1
    assert {"copy marked", "kernel marked", "record "} <= set(classes(picture))
    assert "no order" in "".join(picture.itertext())
    assert roles(picture) == ["load", "signal", "read"]
    assert "proof" not in " ".join(classes(picture))


def test_an_order_is_drawn_with_its_proof():
    """The arrow from the signal to the gate; what is in no edge is counted, not drawn."""
    picture = drawn(record(ordered=True))
    assert classes(picture).count("edge proof") == 1
    assert "missing" not in classes(picture)
    text = "".join(picture.itertext())
    assert "another layer" not in text
    assert "engine/loader.py:7 load" in text
    assert roles(picture) == ["load", "signal", "gate", "read"]


def test_streams_are_lanes():
    """One line each, named."""
    picture = drawn(record(ordered=True))
    assert classes(picture).count("lane") == 2
    assert {"stream 0", "stream 1"} <= {text.strip() for text in picture.itertext()}


def test_nothing_of_the_engine_gets_into_the_page_unescaped():
    """Names are hostile; the page has no script and fetches nothing."""
    one = record(ordered=False, name=HOSTILE)
    one["label"] = one["timeline"]["operations"][0]["name"] = HOSTILE
    html = page([one])
    assert "<script" not in html
    assert not re.search(r"(src|href)\s*=", html)
    drawn(one)


def test_the_command_writes_the_page(tmp_path, capsys):
    """From evidence to HTML, with a section a record; what is no evidence is refused."""
    evidence, out = tmp_path / "evidence.json", tmp_path / "evidence.html"
    drawn = Timeline((observed.LOAD, observed.READ))
    records = [observed.record(replace(one, timeline=drawn)) for one in (observed.CONFIRMED, observed.ORDERED)]
    evidence.write_text(json.dumps(observed.document(*records)))
    assert main(["picture", str(evidence), "-o", str(out)]) == 0
    assert out.read_text(encoding="utf-8").count("<svg") == 2
    others: list[Any] = [
        {"schema": "report-v1"},
        [],
        {"schema": "evidence-v1", "records": [{}]},
        observed.document({**records[0], "trials": 3}),
    ]
    for other in others:
        evidence.write_text(json.dumps(other))
        assert main(["picture", str(evidence)]) == 2
        assert "is no evidence-v1" in capsys.readouterr().err


@pytest.mark.parametrize("label", ["could not run: no GPU", "inconclusive: no trial was run"])
def test_a_record_without_operations_has_no_picture(label):
    """But its label."""
    one = record(ordered=True)
    one["label"], one["timeline"] = label, {"operations": [], "edges": []}
    assert "<svg" not in page([one])
    assert label in page([one])
