"""Evidence on the HTML page: what the probe saw of a claim, in sentences and as the streams of one run.

The probe draws (``cuda_probe.timeline``); here its sentences become values and its pictures get this room's escape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from auditor.render.escape import escape
from auditor.triage import Site
from cuda_probe.timeline import STYLE, svg, title, told

__all__ = ["STYLE", "Probed", "probed"]


@dataclass(frozen=True, slots=True)
class Probed:
    """A record: what was called and how, its label and verdict, sentences, and the timeline (SVG, or ""). ``finding``
    is the fingerprint of what it tests; ``sites`` are the places of the claim, by their ids on the page."""

    id: str
    title: str
    label: str
    verdict: str
    claim: str
    finding: str | None
    sentences: tuple[str, ...]
    timeline: str
    sites: tuple[tuple[str, Site], ...]


def probed(evidence: Sequence[Mapping[str, Any]], sites: Mapping[str, tuple[str, Site]]) -> tuple[Probed, ...]:
    """Work out what the page shows of each record; ``sites`` has those of the report with their ids on the page."""
    return tuple(_probed(record, f"e{number}", sites) for number, record in enumerate(evidence, 1))


def _probed(record: Mapping[str, Any], id_: str, sites: Mapping[str, tuple[str, Site]]) -> Probed:
    experiment = record["experiment"]
    return Probed(
        id=id_,
        title=title(record),
        label=record["label"],
        verdict=record["verdict"],
        claim=experiment["claim"],
        finding=experiment["finding"],
        sentences=tuple(told(record)),
        timeline=svg(record, id_, escape),
        sites=tuple(sites[site] for site in experiment["sites"] if site in sites),
    )
