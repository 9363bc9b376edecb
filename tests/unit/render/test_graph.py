"""The call graph as text."""

from __future__ import annotations

import json
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from auditor.render import GRAPH_FORMATS, callers_of

CALLS = {
    "m.main": ("m.forward", "m.idle"),
    "m.forward": ("m.Pool.get_key_buffer",),
    "m.idle": (),
    "m.Pool.get_key_buffer": ("m.Pool.wait",),
    "m.Pool.wait": (),
}


def test_json_is_sorted_and_whole() -> None:
    written = json.loads(GRAPH_FORMATS["json"]({"b": ("z", "a"), "a": ()}))
    assert list(written.items()) == [("a", []), ("b", ["a", "z"])]
    assert json.loads(GRAPH_FORMATS["json"]({})) == {}


def test_slice_keeps_what_reaches_the_accessor() -> None:
    assert callers_of(CALLS, "get_key_buffer") == {
        "m.main": ("m.forward",),
        "m.forward": ("m.Pool.get_key_buffer",),
        "m.Pool.get_key_buffer": (),
    }
    assert callers_of(CALLS, "m.idle") == {"m.idle": (), "m.main": ("m.idle",)}
    assert callers_of(CALLS, "nothing") == {}


def test_slice_of_a_cycle_ends() -> None:
    cycle = {"a": ("b",), "b": ("a", "c"), "c": ()}
    assert callers_of(cycle, "c") == {"a": ("b",), "b": ("a", "c"), "c": ()}


def test_dot_quotes_names() -> None:
    assert r'"say \"hi\"" -> "back\\slash";' in GRAPH_FORMATS["dot"]({'say "hi"': ("back\\slash",)})


@given(st.dictionaries(st.text(max_size=5), st.lists(st.text(max_size=5), max_size=3).map(tuple), max_size=4))
def test_graphml_is_xml_with_every_edge(calls: dict[str, tuple[str, ...]]) -> None:
    tree = ElementTree.fromstring(GRAPH_FORMATS["graphml"](calls))
    edges = tree.findall(".//{http://graphml.graphdrawing.org/xmlns}edge")
    assert len(edges) == sum(len(callees) for callees in calls.values())
