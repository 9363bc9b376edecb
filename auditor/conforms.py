"""A validator for the part of JSON Schema that our schemas use, so that no run needs a library for it.

What a schema asks for and this does not know is an assertion, never passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

_SHOWN = 60
_SAID = frozenset({"$schema", "$id", "$defs", "title", "description"})
"""Keywords that ask for nothing."""
_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
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
    return any(isinstance(value, _TYPES[name]) and (name == "boolean" or not isinstance(value, bool)) for name in names)


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
        case "allOf", _:
            for one in asked:
                yield from faults(value, one, root, at)
        case "anyOf" | "oneOf", _:
            fits = sum(_fits(value, one, root) for one in asked)
            if fits == 0 or (keyword == "oneOf" and fits > 1):
                yield f"{at} is of {fits or 'none'} of the forms that it may have"
        case "if", _:
            if "then" in schema and _fits(value, asked, root):
                yield from faults(value, schema["then"], root, at)
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
        case "propertyNames", dict():
            for name in value:
                yield from faults(name, asked, root, f"{at} has the key {name[:_SHOWN]!r}, which")
        case "maxProperties", dict():
            if len(value) > asked:
                yield f"{at} has more than {asked} keys"
        case "items", list():
            for number, item in enumerate(value):
                yield from faults(item, asked, root, f"{at}[{number}]")
        case "contains", list():
            if not any(_fits(item, asked, root) for item in value):
                yield f"{at} has no item of the form that one must have"
        case "minItems", list():
            if len(value) < asked:
                yield f"{at} has fewer than {asked} items"
        case "maxItems", list():
            if len(value) > asked:
                yield f"{at} has more than {asked} items"
        case "minLength", str():
            if len(value) < asked:
                yield f"{at} is shorter than {asked} characters"
        case "maxLength", str():
            if len(value) > asked:
                yield f"{at} is longer than {asked} characters"
        case "pattern", str():
            if not _pattern(asked).search(value):
                yield f"{at} is not of the form {asked}"
        case "minimum", int() | float():
            if value < asked:
                yield f"{at} is less than {asked}"
        case "maximum", int() | float():
            if value > asked:
                yield f"{at} is more than {asked}"
        case _:
            assert keyword in _KNOWN, f"{keyword} in the schema is not understood"


def _fits(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any]) -> bool:
    return next(faults(value, schema, root), None) is None


@cache
def _pattern(text: str) -> re.Pattern[str]:
    """As in ECMAScript, whose patterns JSON Schema means: the ``$`` at the end is not before a last line end."""
    return re.compile(text[:-1] + r"\Z" if text.endswith("$") else text)


_KNOWN = frozenset(
    {
        *("required", "properties", "additionalProperties", "propertyNames", "maxProperties"),
        *("items", "contains", "minItems", "maxItems"),
        *("minLength", "maxLength", "pattern", "minimum", "maximum"),
        "then",
    }
)
"""Keywords that say nothing of a value of another type; ``then`` is read with its ``if``."""
