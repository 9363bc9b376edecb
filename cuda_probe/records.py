"""Evidence as JSON (``evidence-v1``, schema in reports/schema): one record an experiment, with the label that it
earns. Standard library only: the audit reads evidence with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from cuda_probe.evidence import (
    Backend,
    Controls,
    Edge,
    Fidelity,
    Observation,
    OperationSeen,
    RaceSeen,
    Tally,
    Timeline,
)
from cuda_probe.labels import label, verdict


@dataclass(frozen=True, slots=True)
class Target:
    """The tree that was probed: the engine's name and version, and the hash of the file of the probed class."""

    package: str
    version: str
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Record:
    """The evidence of one experiment of a plan."""

    experiment: Mapping[str, Any]
    target: Target
    observation: Observation
    fidelity: Fidelity | None

    def to_json(self) -> dict[str, Any]:
        """Return the record as JSON values, with its verdict and label."""
        return {
            "experiment": dict(self.experiment),
            "target": _plain(self.target),
            "fidelity": None if self.fidelity is None else _plain(self.fidelity),
            **_plain(self.observation),
            "verdict": verdict(self.observation),
            "label": label(self.observation),
        }


def earned(record: Mapping[str, Any]) -> tuple[str, str]:
    """Return the verdict and the label that a record (of the form that the schema asks for) earns by what it holds."""
    observation = _observation(record)
    return verdict(observation), label(observation)


def _observation(record: Mapping[str, Any]) -> Observation:
    controls, timeline = record["controls"], record["timeline"]
    return Observation(
        backend=Backend(**record["backend"]),
        trials=Tally(**record["trials"]),
        controls=controls and Controls(**{name: Tally(**tally) for name, tally in controls.items()}),
        races=tuple(
            RaceSeen(**{**race, "first": _operation(race["first"]), "second": _operation(race["second"])})
            for race in record["races"]
        ),
        path=tuple(map(_operation, record["path"])),
        timeline=Timeline(
            tuple(map(_operation, timeline["operations"])), tuple(Edge(**edge) for edge in timeline["edges"])
        ),
        layer=record["layer"],
        buffers=tuple(record["buffers"]),
        schedules=tuple(record["schedules"]),
        notes=tuple(record["notes"]),
        failure=record["failure"],
        doubt=record["doubt"],
    )


def _operation(plain: Mapping[str, Any]) -> OperationSeen:
    return OperationSeen(**{**plain, "site": tuple(plain["site"])})


def _plain(value: Any) -> dict[str, Any]:
    plain: dict[str, Any] = _lists(asdict(value))
    return plain


def _lists(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _lists(item) for key, item in value.items()}
    return [_lists(item) for item in value] if isinstance(value, (tuple, list)) else value
