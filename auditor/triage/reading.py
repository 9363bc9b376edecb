"""A report again from report-v1, for what is made of a report later. That form leaves out some of what only the run
knew (where the root was, remarks for the footer): these are empty then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from auditor.errors import UsageError
from auditor.triage.report import Report


def report_of(plain: Mapping[str, Any]) -> Report:
    """Read a report that was written as report-v1.

    Raises:
        UsageError: something is missing, or is of another type than it should be.
    """
    tool = plain.get("tool")
    version = tool.get("version") if isinstance(tool, Mapping) else None
    report: Report = _read(Report, {**plain, "tool_version": version, "root": ""}, "the report")
    return report


def _read(hint: Any, value: Any, at: str) -> Any:
    arguments = get_args(hint)
    if is_dataclass(hint):
        return _value(hint, _of(value, dict, at))
    if get_origin(hint) is tuple:
        return tuple([_read(arguments[0], one, at) for one in _of(value, list, at)])
    if get_origin(hint) is dict:
        return {name: _read(arguments[1], one, at) for name, one in _of(value, dict, at).items()}
    if NoneType in arguments:
        return None if value is None else _read(arguments[0], value, at)
    return _of(value, hint, at)


def _value(cls: Any, plain: dict[str, Any]) -> Any:
    read = {}
    for name, key, hint, required in _fields(cls):
        if required or key in plain:
            read[name] = _read(hint, plain.get(key), key)
    return cls(**read)


@cache
def _fields(cls: Any) -> tuple[tuple[str, str, Any, bool], ...]:
    """The fields of a class, each with its key in report-v1, and whether it has no default."""
    hints = get_type_hints(cls)
    return tuple(
        (
            one.name,
            one.name.rstrip("_"),
            hints[one.name],
            one.default is MISSING and one.default_factory is MISSING,
        )
        for one in fields(cls)
    )


def _of(value: Any, kind: type, at: str) -> Any:
    if type(value) is kind or (kind is float and type(value) is int):
        return value
    raise UsageError(f"this is no whole report-v1: {at} is no {kind.__name__} but {str(value)[:40]!r}")
