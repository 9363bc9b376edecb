"""Our validator of JSON Schema says what a library for it says, of all schemas that we have."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from auditor.conforms import faults
from auditor.render import FORMATS, Page
from auditor.review import to_json
from tests.probe.observed import CONFIRMED, ORDERED, document, record
from tests.review.stage import GONE, artifact, finding
from tests.unit.render import sample

SCHEMAS = Path(__file__).parents[2] / "reports/schema"
RICH = artifact(finding(1), finding(2, status="suppressed", justification="why"), fixed=(GONE,), problems=("x: bad",))
DOCUMENTS: dict[str, Any] = {
    "review-v1": json.loads(to_json(RICH)),
    "report-v1": json.loads(FORMATS["json"](sample.REPORT, Page())),
    "evidence-v1": document(record(CONFIRMED), record(ORDERED)),
}


def schema_of(name: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    return schema


values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(0.1, 0.9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def spots(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place of a document."""
    below = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [path, *(spot for key, value in below for spot in spots(value, (*path, key)))]


def texts(node: Any) -> set[str]:
    """Every text of a document: those that its schema asks for come in wrong places."""
    if isinstance(node, str):
        return {node}
    below = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    return {text for one in below for text in texts(one)}


@pytest.mark.parametrize("name", DOCUMENTS)
@given(data=st.data())
@settings(max_examples=100, deadline=None)
def test_our_validator_says_what_jsonschema_says(name: str, data: st.DataObject) -> None:
    """One place of a good document is replaced, removed or added to."""
    whole = {"": copy.deepcopy(DOCUMENTS[name])}
    schema = schema_of(name)
    assert list(faults(whole[""], schema)) == []
    *above, key = data.draw(st.sampled_from(spots(whole)[1:]))
    parent: Any = whole
    for part in above:
        parent = parent[part]
    told = st.sampled_from(sorted(texts(whole)))
    value = data.draw(values | told | st.just("x" * 2001) | st.just(True) | st.just(10**9))
    match data.draw(st.sampled_from(["replace", "remove", "add"])):
        case "replace":
            parent[key] = value
        case "remove" if above:
            del parent[key]
        case "add" if isinstance(parent[key], dict):
            parent[key]["more"] = value
    expected = Draft202012Validator(schema).is_valid(whole[""])
    assert (not list(faults(whole[""], schema))) == expected


def test_a_pattern_ends_where_the_text_ends() -> None:
    """As in ECMAScript, whose patterns JSON Schema means: `$` is not before a last line end."""
    schema = schema_of("review-v1")
    assert list(faults("a\n", schema["$defs"]["check"], schema))


@pytest.mark.parametrize("schema", [{"format": "date"}, {"properties": {"a": {"not": {}}}}])
def test_a_keyword_that_it_does_not_know_is_not_passed_over(schema: dict[str, Any]) -> None:
    with pytest.raises(AssertionError):
        list(faults({"a": 1}, schema))
