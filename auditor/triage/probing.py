"""The probe's side of a report: which experiments would test its claims, and what their evidence says about them.

Reads and writes report-v1 as JSON values: the probe runs elsewhere, and later. An *entry* is the method by which an
experiment comes in: of the class that holds the gate, since a read that is gated by its owner says nothing when it is
called past the owner.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from auditor.conforms import faults
from auditor.errors import UsageError
from auditor.spec import data

Plain = Mapping[str, Any]

PLAN = "probe-plan-v1"
EVIDENCE = "evidence-v1"

NO_READS = frozenset({"false-annotation", "pack-gap", "redundant-gate"})
"""Checks about what is written down, or written twice."""


# ---------------------------------------------------------------- plan


@dataclass(frozen=True, slots=True)
class _Entry:
    class_: str
    method: str
    objects: tuple[str, ...]


@dataclass(slots=True)
class _Claim:
    claim: str
    entry: _Entry
    finding: str | None = None
    buffer: str | None = None
    sites: list[str] = field(default_factory=list)


def probe_plan(report: Plain, scenarios: Sequence[str] = ("base",)) -> dict[str, Any]:
    """Return the experiments (probe-plan-v1) that test the findings of a report and its certificates.

    Claims that no experiment can test are listed with the reason.

    Raises:
        UsageError: it is no report-v1.
    """
    _require(report, "report-v1", "write one with `bufgate check -o json:FILE`")
    skipped: list[dict[str, Any]] = []
    ways = _Ways(report)
    claims = [*_ungated(report, skipped), *_gated(report, ways, skipped)]
    return {
        "schema": PLAN,
        "engine": {"name": report["engine"]["name"], "version": report["engine"]["version"]},
        "experiments": [_experiment(claim, scenario) for claim in claims for scenario in scenarios],
        "skipped": skipped,
    }


def _experiment(claim: _Claim, scenario: str) -> dict[str, Any]:
    entry = claim.entry
    module, _, class_ = entry.class_.rpartition(".")
    name = f"{claim.finding or ','.join(entry.objects)}:{entry.class_}.{entry.method}"
    return {
        "id": f"{name}/{scenario}",
        "claim": claim.claim,
        "finding": claim.finding,
        "sites": claim.sites,
        "module": module,
        "class": class_,
        "method": entry.method,
        "objects": list(entry.objects),
        "buffer": claim.buffer,
        "scenario": scenario,
    }


def _ungated(report: Plain, skipped: list[dict[str, Any]]) -> Iterator[_Claim]:
    sites = {site["id"]: site for site in report["sites"]}
    for finding in report["findings"]:
        class_, method = finding["class"], finding["method"]
        all_bindings = [
            binding for site in finding["sites"] for binding in sites.get(site, {"bindings": ()})["bindings"]
        ]
        bindings = [binding for binding in all_bindings if binding["check"] == finding["check"]]
        why = None
        if finding["status"] == "suppressed":
            why = "the finding is suppressed"
        elif bindings and all(binding["verdict"] == "latent" for binding in bindings):
            why = "latent: no feasible scenario arms the object"
        elif finding["check"] in NO_READS:
            why = f"{finding['check']} says nothing of a read, and so nothing that a run could show"
        elif not class_ or not method:
            why = f"{finding['function'] or 'it'} is no method of a class"
        if why is not None:
            skipped.append(_skip("ungated", finding["fingerprint"], finding["sites"], why))
            continue
        objects = {place for binding in bindings if class_ in binding["classes"] for place in binding["objects"]}
        steps = (step["function"] for step in finding["witness"])
        first = next((_last(step) for step in steps if _class_of(step) == class_), method)  # where the path enters it
        entry = _Entry(class_, first, tuple(sorted(objects)))
        unknown = bool(all_bindings) and all(binding["verdict"] == "unknown" for binding in all_bindings)
        claim = "unknown" if unknown else "ungated"
        yield _Claim(claim, entry, finding["fingerprint"], finding["buffer"] or None, sorted(finding["sites"]))


def _gated(report: Plain, ways: _Ways, skipped: list[dict[str, Any]]) -> Iterator[_Claim]:
    claims: dict[_Entry, _Claim] = {}
    for site in report["sites"]:
        if site["role"] != "product":
            continue
        for binding in site["bindings"]:
            if binding["verdict"] != "gated" or binding["mode"] != "eager":
                continue
            entries = ways.entries(site, binding)
            if not entries:
                owners = ", ".join(sorted({gate["on"] for gate in binding["gates"]}))
                why = f"the gate is on {owners}, and no method of it is seen to lead to {site['path']}:{site['line']}"
                skipped.append(_skip("gated", None, [site["id"]], why))
            for entry in entries:
                claim = claims.setdefault(entry, _Claim("gated", entry))
                if site["id"] not in claim.sites:
                    claim.sites.append(site["id"])
    yield from _joined(claims)


def _joined(claims: Mapping[_Entry, _Claim]) -> Iterator[_Claim]:
    """Join a claim that names no object to those of the same entry that do."""
    for entry, claim in claims.items():
        same = [one for one in claims.values() if one.entry.objects and _way(one.entry) == _way(entry)]
        if entry.objects or not same:
            yield claim
        for one in same if not entry.objects else ():
            one.sites += [site for site in claim.sites if site not in one.sites]


def _way(entry: _Entry) -> tuple[str, str]:
    return entry.class_, entry.method


def _skip(claim: str, finding: str | None, sites: Iterable[str], why: str) -> dict[str, Any]:
    return {"claim": claim, "finding": finding, "sites": sorted(sites), "why": why}


class _Ways:
    """Ways into the class that holds a gate, as the call sites of a report show them."""

    def __init__(self, report: Plain):
        self._callers: dict[str, list[tuple[Plain, Plain]]] = {}  # method -> call sites that bind to it
        self._own_callers: dict[tuple[str, str], dict[str, None]] = {}  # class, method -> methods that call it on self
        self._classes: set[str] = set()
        for site in report["sites"]:
            for binding in site["bindings"]:
                self._classes.update(binding["classes"])
                if site["receiver"] == "self":
                    for class_ in binding["classes"]:
                        self._own_callers.setdefault((class_, site["name"]), {})[_last(site["function"])] = None
                if site["kind"] == "call" and binding["method"]:
                    self._callers.setdefault(binding["method"], []).append((site, binding))
                    self._classes.add(_class_of(binding["method"]))

    # entry(o, m) <- gate on o held at a call of o.m, m public
    # entry(o, n) <- entry(o, m), m private, o.n calls self.m
    # entry(o, m) <- gate on o held in the body of o.m
    # entry(o, n) <- gate on o held in the body of c.m, o.n calls c.m, or c.l which calls self.m
    def entries(self, site: Plain, binding: Plain) -> list[_Entry]:
        owners = {gate["on"] for gate in binding["gates"]}
        inside = _class_of(site["function"])
        if site["kind"] == "call" and binding["method"]:
            method = _last(binding["method"])
        else:
            method = _last(site["function"]) if inside in self._classes else ""
        direct = [class_ for class_ in binding["classes"] if _last(class_) in owners]
        if method and direct:
            objects = tuple(sorted(binding["objects"]))
            return [_Entry(class_, way, objects) for class_ in direct for way in self.public(method, class_)]
        if _last(inside) in owners and inside in self._classes:
            return [_Entry(inside, _last(site["function"]), ())]
        return self._from_owners(site["function"], owners, set(binding["objects"]))

    def _from_owners(self, function: str, owners: set[str], objects: set[str]) -> list[_Entry]:
        """Return the methods of owners that lead to a function, called on one of these objects; on the way it may be
        called by others of the same object."""
        found: dict[_Entry, None] = {}
        todo, seen = [function], {function}
        while todo:
            for caller, bound in self._callers.get(todo.pop(), ()):
                name, class_ = caller["function"], _class_of(caller["function"])
                if not set(bound["objects"]) & objects:
                    continue
                if _last(class_) in owners:
                    found |= dict.fromkeys(_Entry(class_, way, ()) for way in self.public(_last(name), class_))
                elif caller["receiver"] == "self" and name not in seen:
                    seen.add(name)
                    todo.append(name)
        return list(found)

    def public(self, method: str, class_: str) -> list[str]:
        """Return the public methods by which a method is reached on the same object: itself, or those that call it
        there."""
        found, todo = dict.fromkeys([method]), [method]
        while todo:
            name = todo.pop()
            if name.startswith("_"):
                del found[name]
                fresh = [caller for caller in self._own_callers.get((class_, name), ()) if caller not in found]
                found |= dict.fromkeys(fresh)
                todo += fresh
        return list(found)


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _class_of(function: str) -> str:
    return function.rpartition(".")[0]


# ---------------------------------------------------------------- merge


@dataclass(frozen=True, slots=True)
class Agreement:
    """What the audit claims, against what the probe saw. ``disagreements``: (claim, label, id of the experiment);
    ``reasons``: of what was not judged, with how many experiments there are of each."""

    counts: Mapping[tuple[str, str], int]
    disagreements: tuple[tuple[str, str, str], ...]
    reasons: tuple[tuple[str, int], ...] = ()

    def lines(self) -> tuple[str, ...]:
        """Return a table for people: claims by verdicts, the share that was judged, reasons for the others."""
        claims = sorted({claim for claim, _ in self.counts})
        total = sum(self.counts.values())
        judged = sum(count for (_, verdict), count in self.counts.items() if verdict in _JUDGED)
        head = f"{'':<9}" + "".join(f"{verdict:>17}" for verdict in _PROBED)
        rows = [
            f"{claim:<9}" + "".join(f"{self.counts.get((claim, verdict), 0):>17}" for verdict in _PROBED)
            for claim in claims
        ]
        share = f"{judged} of {total} experiments were built and judged: {100 * judged // max(total, 1)} %"
        return head, *rows, share, *(f"{count:>5}  {reason}" for reason, count in self.reasons)


def merge_evidence(report: Plain, evidence: Plain) -> tuple[dict[str, Any], Agreement]:
    """Return the report with the labels of each finding that was probed, one a place, and how far both agree.

    Raises:
        UsageError: one of them is not what it should be, the evidence is of another report, or says more than it holds.
    """
    _require(report, "report-v1", "write one with `bufgate check -o json:FILE`")
    _require_evidence(evidence)
    _require_of(report, evidence["records"])
    for record in evidence["records"]:
        _require_earned(record)
    records = [record for record in evidence["records"] if record["experiment"]["scenario"] == "base"]
    labels: dict[str, dict[str, None]] = {}
    for record in records:  # each place has its own label: they never become one
        labels.setdefault(record["experiment"]["finding"], {})[record["label"]] = None
    findings = [
        {**finding, "confirmation": "; ".join(labels.get(finding["fingerprint"], ())) or finding["confirmation"]}
        for finding in report["findings"]
    ]
    return {**report, "findings": findings}, _agreement(records)


def _agreement(records: Iterable[Plain]) -> Agreement:
    counts: Counter[tuple[str, str]] = Counter()
    reasons: Counter[str] = Counter()
    disagreements = []
    for record in records:
        claim, verdict = record["experiment"]["claim"], record["verdict"]
        counts[claim, verdict] += 1
        if verdict not in _JUDGED:
            reasons[record["label"]] += 1
        if (claim, verdict) in (("gated", "confirmed"), ("ungated", "ordered")):
            disagreements.append((claim, record["label"], record["experiment"]["id"]))
    ordered = sorted(reasons.items(), key=lambda one: (-one[1], one[0]))
    return Agreement(dict(sorted(counts.items())), tuple(disagreements), tuple(ordered))


def _require(document: Plain, schema: str, remedy: str) -> None:
    if not isinstance(document, Mapping) or document.get("schema") != schema:
        raise UsageError(f"this is no {schema}; {remedy}")


def _require_evidence(document: Plain) -> None:
    """Refuse what is not of the form that the schema of evidence asks for, and of labels for what they claim."""
    _require(document, EVIDENCE, "write it with `python -m cuda_probe run PLAN -o FILE`")
    schema = data("reports").joinpath("schema", f"{EVIDENCE}.schema.json").read_text(encoding="utf-8")
    if fault := next(faults(document, json.loads(schema)), None):
        raise UsageError(f"this is no {EVIDENCE}: {fault}")


def _require_earned(record: Plain) -> None:
    """Refuse a label that is not the one which its own record earns: a schema cannot compare numbers."""
    from cuda_probe.records import earned  # whoever does not merge, does not load it

    _, label = told = earned(record)
    if (record["verdict"], record["label"]) != told:
        said = f"says {record['label']!r}, but what it holds earns {label!r}"
        raise UsageError(f"the record of {record['experiment']['id']} {said}")


def _require_of(report: Plain, records: Iterable[Plain]) -> None:
    """Refuse evidence of another report."""
    version = report["engine"]["version"]
    findings, sites = {one["fingerprint"] for one in report["findings"]}, {site["id"] for site in report["sites"]}
    foreign = "the evidence is of another report"
    for record in records:
        experiment, probed = record["experiment"], record["target"]["version"]
        if (finding := experiment["finding"]) is not None and finding not in findings:
            raise UsageError(f"{foreign}: this one has no finding {finding}")
        if strange := set(experiment["sites"]) - sites:
            raise UsageError(f"{foreign}: this one has no site {min(strange)}")
        if probed != version:
            said = f"it ran {probed or 'no version'}, and this one is of {version or 'no version'}"
            raise UsageError(f"{foreign}: {said}")


_PROBED = ("confirmed", "ordered", "not-reproduced", "could-not-run", "inconclusive")

_JUDGED = frozenset({"confirmed", "ordered"})
