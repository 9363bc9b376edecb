"""Evidence as JSON (``evidence-v1``, schema in reports/schema): one record an experiment, with the label that it
earns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from cuda_probe.evidence import Fidelity, Observation
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


def _plain(value: Any) -> dict[str, Any]:
    plain: dict[str, Any] = _lists(asdict(value))
    return plain


def _lists(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _lists(item) for key, item in value.items()}
    return [_lists(item) for item in value] if isinstance(value, (tuple, list)) else value
