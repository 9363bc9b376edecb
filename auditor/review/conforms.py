"""A validator for the part of JSON Schema that our schemas use, so that no run needs a library for it.

What a schema asks for and this does not know is an assertion, never passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_SHOWN = 60
_SAID = frozenset({"$schema", "$id", "$defs", "title", "description"})
"""Keywords that ask for nothing."""
_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "boolean": bool,
    "null": type(None),
}


def faults(
    value: Any, schema: Mapping[str, Any], root: Mapping[str, Any] | None = None, at: str = "$"
) -> Iterator[str]:
    """Say where and how a parsed JSON value does not conform; nothing if it does."""
    root = schema if root is None else root
    if "$ref" in schema:
        yield from faults(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, at)
        return
    for keyword, asked in schema.items():
        if keyword == "type" and not _is(value, asked):
            yield f"{at} is not of type {asked}"
            return  # what follows is about values of the right type
    for keyword, asked in schema.items():
        if keyword not in _SAID and keyword != "type":
            yield from _fault(keyword, asked, value, root, at, schema)


def _is(value: Any, asked: str | list[str]) -> bool:
    names = [asked] if isinstance(asked, str) else asked
    return any(isinstance(value, _TYPES[name]) and (name != "integer" or type(value) is int) for name in names)


def _fault(
    keyword: str, asked: Any, value: Any, root: Mapping[str, Any], at: str, schema: Mapping[str, Any]
) -> Iterator[str]:
    match keyword, value:
        case "const", _:
            if value != asked:
                yield f"{at} is not {asked!r}"
        case "enum", _:
            if value not in asked:
                yield f"{at} is none of {', '.join(map(str, asked))}"
        case "required", dict():
            yield from (f"{at} has no {name!r}" for name in asked if name not in value)
        case "properties", dict():
            for name, below in asked.items():
                if name in value:
                    yield from faults(value[name], below, root, f"{at}.{name}")
        case "additionalProperties", dict():
            extra = [name for name in value if name not in schema.get("properties", {})]
            if asked is False:
                yield from (f"{at} has {name[:_SHOWN]!r}, which nobody knows" for name in extra)
            else:
                for name in extra:
                    yield from faults(value[name], asked, root, f"{at}.{name[:_SHOWN]}")
        case "maxProperties", dict():
            if len(value) > asked:
                yield f"{at} has more than {asked} keys"
        case "items", list():
            for number, item in enumerate(value):
                yield from faults(item, asked, root, f"{at}[{number}]")
        case "maxItems", list():
            if len(value) > asked:
                yield f"{at} has more than {asked} items"
        case "maxLength", str():
            if len(value) > asked:
                yield f"{at} is longer than {asked} characters"
        case "pattern", str():
            if not re.fullmatch(asked, value):  # all of ours are anchored on both sides
                yield f"{at} is not of the form {asked}"
        case "minimum", int():
            if value < asked:
                yield f"{at} is less than {asked}"
        case "maximum", int():
            if value > asked:
                yield f"{at} is more than {asked}"
        case _:
            assert keyword in _KNOWN, f"{keyword} in the schema is not understood"


_KNOWN = frozenset(
    {
        *("required", "properties", "additionalProperties", "maxProperties", "items", "maxItems"),
        *("maxLength", "pattern", "minimum", "maximum"),
    }
)
"""Keywords that say nothing of a value of another type."""
