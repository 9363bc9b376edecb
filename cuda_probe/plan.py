"""Plans: which experiments to run (``probe-plan-v1``, written by ``bufgate probe plan``)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

SCHEMA = "probe-plan-v1"


class PlanError(Exception):
    """Indicates a plan that cannot be run; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """One claim of the audit under one scenario. ``objects``: allocations (path:line) that the claim is about; empty:
    any."""

    id: str
    claim: str
    finding: str | None
    sites: tuple[str, ...]
    module: str
    class_: str
    method: str
    objects: tuple[str, ...]
    buffer: str | None
    scenario: str

    def to_json(self) -> dict[str, Any]:
        """Return it as it stands in a plan."""
        plain = asdict(self)
        plain["class"] = plain.pop("class_")
        return {key: list(value) if isinstance(value, tuple) else value for key, value in plain.items()}


@dataclass(frozen=True, slots=True)
class Plan:
    """Experiments on one engine."""

    engine: str
    version: str
    experiments: tuple[Experiment, ...]


def load_plan(file: Path) -> Plan:
    """Read a plan.

    Raises:
        PlanError: the file cannot be read, or is no plan.
    """
    try:
        plain = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise PlanError(f"cannot read {file}: {error.strerror or error}") from error
    except ValueError as error:
        raise PlanError(f"{file} is no JSON: {error}") from error
    if not isinstance(plain, Mapping) or plain.get("schema") != SCHEMA:
        raise PlanError(f"{file} is no {SCHEMA}; write one with `bufgate probe plan REPORT`")
    try:
        engine = plain["engine"]
        return Plan(engine["name"], engine["version"], tuple(experiment_from(one) for one in plain["experiments"]))
    except (KeyError, TypeError) as error:
        raise PlanError(f"{file} is damaged ({error}); write it again with `bufgate probe plan REPORT`") from error


def experiment_from(plain: Mapping[str, Any]) -> Experiment:
    """Read an experiment as it stands in a plan.

    Raises:
        KeyError, TypeError: it is none.
    """
    texts = [plain[name] for name in ("id", "module", "class", "method", "scenario")]
    if not all(isinstance(text, str) for text in (*texts, *plain["sites"], *plain["objects"])):
        raise TypeError(f"no texts in {plain}"[:200])
    return Experiment(
        id=plain["id"],
        claim=plain["claim"],
        finding=plain["finding"],
        sites=tuple(plain["sites"]),
        module=plain["module"],
        class_=plain["class"],
        method=plain["method"],
        objects=tuple(plain["objects"]),
        buffer=plain["buffer"],
        scenario=plain["scenario"],
    )
