"""GitHub's contract: which requests it takes and what it may answer, from the slices of its own description."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from graphql import DocumentNode, GraphQLSchema, build_schema, parse, validate
from jsonschema import Draft202012Validator

HERE = Path(__file__).parent / "contract"
FLAVOURS = ("github", "ghes")


class Operation(NamedTuple):
    """One operation: where it lies, and what its query, its body and its answers look like."""

    method: str
    path: re.Pattern[str]
    query: frozenset[str]
    body: Draft202012Validator | None
    answers: dict[int, Draft202012Validator]


@functools.cache
def operations(flavour: str) -> tuple[Operation, ...]:
    """Return all operations of a slice."""
    document = json.loads((HERE / f"{flavour}.json").read_text(encoding="utf-8"))
    return tuple(_operations(document))


def _operations(document: Any) -> Iterator[Operation]:
    def validator(schema: Any) -> Draft202012Validator:
        return Draft202012Validator({**schema, "components": document["components"]})

    for path, methods in document["paths"].items():
        below = r".+" if path.endswith("{path}") else r"[^/]+"
        pattern = re.compile(re.sub(r"\\\{path\\\}", below, re.sub(r"\\\{(?!path)\w+\\\}", "[^/]+", re.escape(path))))
        for method, one in methods.items():
            yield Operation(
                method=method.upper(),
                path=pattern,
                query=frozenset(one["query"]),
                body=validator(one["body"]) if one["body"] else None,
                answers={int(status): validator(schema) for status, schema in one["answers"].items()},
            )


def operation(flavour: str, method: str, path: str) -> Operation | None:
    """Return the operation of a request; the one with the fewest variables where several match."""
    found = [one for one in operations(flavour) if one.method == method and one.path.fullmatch(path)]
    return min(found, key=lambda one: one.path.pattern.count("[^/]+"), default=None)


def faults(validator: Draft202012Validator, value: Any) -> list[str]:
    """Say what is wrong with a value."""
    return [f"{error.json_path}: {error.message[:120]}" for error in validator.iter_errors(value)]


@functools.cache
def graphql_schema() -> GraphQLSchema:
    """Return the slice of GitHub's GraphQL schema."""
    return build_schema((HERE / "github.graphql").read_text(encoding="utf-8"))


@functools.cache
def parsed(document: str) -> tuple[DocumentNode, tuple[str, ...]]:
    """Parse a GraphQL document, and say what is wrong with it by the schema."""
    made = parse(document)
    return made, tuple(str(error) for error in validate(graphql_schema(), made))
