"""The published JSON Schema and the loader say the same, because both read one table."""

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest

from auditor.spec import PackError, pack_schema, parse_pack

EXAMPLE = (Path(__file__).parent / "example.toml").read_text(encoding="utf-8")
COMMITTED = Path(__file__).parents[3] / "rules" / "schema" / "pack-v1.schema.json"

BROKEN = [
    ('name = "example"', 'name = "Not A Slug"'),
    ('counter = "layer_counter"', 'counter = "a.b"'),
    ('counter = "layer_counter"', ""),
    ('counter = "layer_counter"', 'counter = "c"\nextra = 1'),
    ("argument = 1", "argument = -1"),
    ("argument = 1", "argument = true"),
    ('operator = ">="', 'operator = "=>"'),
    ('stores = ["destination", 2]', "stores = []"),
    ('stores = ["destination", 2]', "stores = [-2]"),
    ('why = "Tensor methods."', 'why = "  "'),
    ('why = "Tensor methods."', ""),
    ("[uses]", "[[uses]]"),
    ("[[gates]]", "[gates]"),
    ("[[gates]]", "[[gate]]"),
    ("schema = 1", "schema = 2"),
]


def test_the_committed_schema_is_up_to_date(golden):
    golden(COMMITTED, json.dumps(pack_schema(), indent=2, ensure_ascii=False) + "\n")


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(pack_schema())


def test_the_schema_accepts_the_example():
    jsonschema.validate(tomllib.loads(EXAMPLE), pack_schema())


@pytest.mark.parametrize(("old", "new"), BROKEN)
def test_what_one_refuses_the_other_refuses(old, new):
    text = EXAMPLE.replace(old, new, 1)
    assert text != EXAMPLE
    with pytest.raises(PackError):
        parse_pack(text, "pack.toml")
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(tomllib.loads(text), pack_schema())
