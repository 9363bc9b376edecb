"""Cuts GitHub's own descriptions of its API down to the operations that we use. Run by hand, for a new version:

    npm pack @octokit/openapi@23.0.2 @octokit/graphql-schema@15.26.1   # and unpack both
    python -m tests.review.contract.slicing OPENAPI_FOLDER GRAPHQL_FOLDER

The result is JSON Schema, not OpenAPI 3.0: ``nullable`` becomes a type. Bodies of requests keep all that they ask for.
Answers lose ``required`` and are closed: what the double answers may be less than GitHub does, never anything else.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from graphql import GraphQLObjectType, GraphQLSchema, build_schema, get_named_type, print_type

HERE = Path(__file__).parent
SOURCES = {"github": "api.github.com.json", "ghes": "ghes-3.17.json"}
OPERATIONS = frozenset(
    {
        *("pulls/get", "pulls/list", "pulls/list-files", "pulls/create-review", "pulls/create-review-comment"),
        *("pulls/update-review-comment", "issues/create-comment", "issues/update-comment"),
        *("checks/create", "checks/update", "checks/list-for-ref"),
        *("repos/get-content", "repos/list-pull-requests-associated-with-commit"),
        *("apps/get-repo-installation", "apps/create-installation-access-token"),
    }
)
READ = frozenset(
    {
        *("number", "state", "draft", "head", "base", "sha", "filename", "status", "patch", "previous_filename"),
        *("check_runs", "total_count", "id", "external_id", "output", "annotations_count", "content", "encoding"),
        *("name", "conclusion", "body", "user", "login", "token"),
    }
)
"""Members of answers that the double gives."""
NOISE = frozenset({"description", "example", "examples", "x-github", "externalDocs", "deprecated", "title", "default"})

ROOTS = ("Query", "Mutation")
FIELDS = {
    "Query": {"repository"},
    "Mutation": {"minimizeComment", "unminimizeComment", "resolveReviewThread", "unresolveReviewThread"},
    "Repository": {"pullRequest"},
    "PullRequest": {"reviewThreads", "comments"},
}
"""Of these types only so much; of those that they lead to every field whose type is kept."""
TYPES = (
    *("Repository", "PullRequest", "PageInfo", "PullRequestReviewThread", "PullRequestReviewThreadConnection"),
    *("PullRequestReviewComment", "PullRequestReviewCommentConnection", "IssueComment", "IssueCommentConnection"),
    *("MinimizeCommentInput", "MinimizeCommentPayload", "UnminimizeCommentInput", "UnminimizeCommentPayload"),
    *("ResolveReviewThreadInput", "ResolveReviewThreadPayload", "UnresolveReviewThreadInput"),
    *("UnresolveReviewThreadPayload", "Minimizable", "ReportedContentClassifiers", "DiffSide", "BigInt", "DateTime"),
)


def rest(description: Mapping[str, Any]) -> dict[str, Any]:
    """Return path → method → ``{parameters, body, answers}``, with the schemas that they refer to."""
    paths: dict[str, dict[str, Any]] = {}
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            if isinstance(operation, dict) and operation.get("operationId") in OPERATIONS:
                paths.setdefault(path, {})[method] = _operation(operation, description)
    components: dict[str, Any] = {}
    todo = set(_references(paths))
    while todo:
        name = todo.pop()
        components[name] = _schema(description["components"]["schemas"][name], answer=False)
        todo |= set(_references(components[name])) - components.keys()
    return {"version": description["info"]["version"], "paths": paths, "components": {"schemas": components}}


def _operation(operation: Mapping[str, Any], description: Mapping[str, Any]) -> dict[str, Any]:
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    answers = {
        status: _schema(_resolved(content["schema"], description), answer=True)
        for status, answer in operation["responses"].items()
        if status.startswith("2") and (content := answer.get("content", {}).get("application/json"))
    }
    names = [_deref(one, description)["name"] for one in operation["parameters"]]
    return {"query": names, "body": _schema(body, answer=False) if body else None, "answers": answers}


def _deref(node: Mapping[str, Any], description: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" not in node:
        return node
    _, _, kind, name = node["$ref"].split("/")
    return description["components"][kind][name]  # type: ignore[no-any-return]


def _resolved(node: Any, description: Mapping[str, Any], depth: int = 0) -> Any:
    """Write out the references of an answer, as far down as the double goes."""
    if isinstance(node, list):
        return [_resolved(one, description, depth) for one in node]
    if not isinstance(node, dict):
        return node
    node = dict(_deref(node, description))
    if "properties" in node:
        node["properties"] = (
            {name: one for name, one in node["properties"].items() if name in READ} if depth < 9 else {}
        )
    return {name: _resolved(one, description, depth + 1) for name, one in node.items() if name not in NOISE}


def _schema(node: Any, *, answer: bool) -> Any:
    if isinstance(node, list):
        return [_schema(one, answer=answer) for one in node]
    if not isinstance(node, dict):
        return node
    made = {name: _named(name, one, answer) for name, one in node.items() if name not in NOISE}
    if answer and "properties" in made:
        made.pop("required", None)
        made["additionalProperties"] = False
    if made.pop("nullable", False):
        made = {"anyOf": [made, {"type": "null"}]}
    return made


def _named(name: str, node: Any, answer: bool) -> Any:
    """Members of ``properties`` are names of others, whatever they are called."""
    if name == "properties":
        return {key: _schema(one, answer=answer) for key, one in node.items()}
    return _schema(node, answer=answer)


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(reference := node.get("$ref"), str):
            yield reference.rpartition("/")[2]
        for one in node.values():
            yield from _references(one)
    elif isinstance(node, list):
        for one in node:
            yield from _references(one)


def graphql(schema: GraphQLSchema) -> str:
    """Return the types that our documents touch, in GraphQL's own language."""
    kept = {*ROOTS, *TYPES, "String", "Int", "Boolean", "ID"}
    return "\n\n".join(_type(schema, name, kept) for name in (*ROOTS, *TYPES)) + "\n"


def _type(schema: GraphQLSchema, name: str, kept: Iterable[str]) -> str:
    type_ = schema.type_map[name]
    type_.description = None
    if hasattr(type_, "fields"):
        wanted = FIELDS.get(name)
        for field, one in list(type_.fields.items()):
            one.description = None
            for name_, argument in list(getattr(one, "args", {}).items()):
                argument.description = None
                if get_named_type(argument.type).name not in kept:
                    del one.args[name_]
            if (wanted is not None and field not in wanted) or get_named_type(one.type).name not in kept:
                del type_.fields[field]
    for value in getattr(type_, "values", {}).values():
        value.description = None
    if isinstance(type_, GraphQLObjectType):
        type_.interfaces = [one for one in type_.interfaces if one.name in kept]
    return print_type(type_)


def main(openapi: Path, schema: Path) -> None:
    for name, file in SOURCES.items():
        description = json.loads((openapi / "generated" / file).read_text(encoding="utf-8"))
        text = json.dumps(rest(description), separators=(",", ":"), sort_keys=True)
        (HERE / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    text = graphql(build_schema((schema / "schema.graphql").read_text(encoding="utf-8"), assume_valid=True))
    (HERE / "github.graphql").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
