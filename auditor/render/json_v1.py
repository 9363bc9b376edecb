"""report-v1 (schema: reports/schema/report-v1.schema.json): every key, in the order of DESIGN.md §7.

One site, finding and problem a line, so that two reports can be compared with ``diff``; pure ASCII, so that no locale
and no terminal can change it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from auditor.render.page import Page
from auditor.triage import (
    Binding,
    ExcludedBinding,
    Fix,
    Gate,
    Report,
    ReportedFinding,
    ReportedProblem,
    Scenario,
    Site,
    Stats,
    Step,
)

SCHEMA = "report-v1"
TOOL = "bufgate"


def render(report: Report, _page: Page) -> str:
    """Write the whole report."""
    rows = [
        member("schema", SCHEMA),
        member("tool", {"name": TOOL, "version": report.tool_version}),
        member("engine", {"name": report.engine.name, "version": report.engine.version, "pack": report.engine.pack}),
        members("scenarios", map(_scenario, report.scenarios)),
        member("stats", stats_row(report.stats)),
        members("sites", map(_site, report.sites)),
        members("findings", map(finding_row, report.findings)),
        members("problems", map(_problem, report.problems)),
    ]
    return "{\n" + ",\n".join(rows) + "\n}\n"


def member(key: str, value: object) -> str:
    """Write one member of a document that is written a line at a time."""
    return f"{json.dumps(key)}: {json.dumps(value)}"


def members(key: str, values: Iterable[object]) -> str:
    """Write a member that is a list, one element a line."""
    lines = ",\n  ".join(map(json.dumps, values))
    return f"{json.dumps(key)}: [\n  {lines}\n]" if lines else f"{json.dumps(key)}: []"


def _scenario(scenario: Scenario) -> Mapping[str, object]:
    return {"id": scenario.id, "path": scenario.path, "line": scenario.line, "what": scenario.what}


def stats_row(stats: Stats) -> Mapping[str, object]:
    """Return the coverage with its keys."""
    seconds = {} if stats.seconds is None else {"seconds": stats.seconds}
    return {
        "files": stats.files,
        "files_parsed": stats.files_parsed,
        "sites": stats.sites,
        "bindings": stats.bindings,
        "verdicts": {verdict: stats.verdicts.get(verdict, 0) for verdict in _VERDICTS},
        "unknown_reasons": dict(sorted(stats.unknown_reasons.items())),
        "assumptions_used": stats.assumptions_used,
        **({"verified": stats.verified} if stats.verified else {}),
        **seconds,
    }


_VERDICTS = ("gated", "ungated", "latent", "exempt", "unknown")


def _site(site: Site) -> Mapping[str, object]:
    return {
        "id": site.id,
        "path": site.path,
        "line": site.line,
        "column": site.column,
        "kind": site.kind,
        "name": site.name,
        "receiver": site.receiver,
        "function": site.function,
        "role": site.role,
        "verdict": site.verdict,
        "open": site.open,
        "bindings": [_binding(binding) for binding in site.bindings],
        "excluded": [_excluded(one) for one in site.excluded],
    }


def _binding(binding: Binding) -> Mapping[str, object]:
    return {
        "classes": binding.classes,
        "objects": binding.objects,
        "method": binding.method,
        "mode": binding.mode,
        "phase": binding.phase,
        "scenario": binding.scenario,
        "feasible": binding.feasible,
        "when": binding.when,
        "verdict": binding.verdict,
        "reason": binding.reason,
        "check": binding.check,
        "assumptions": binding.assumptions,
        "derivation": _derivation(binding.derivation),
        "gates": [gate_row(gate) for gate in binding.gates],
        "witness": _steps(binding.witness),
    }


def _derivation(steps: Sequence[Step]) -> list[Mapping[str, object]]:
    return [{"path": step.path, "line": step.line, "what": step.what} for step in steps]


def _excluded(one: ExcludedBinding) -> Mapping[str, object]:
    return {
        "classes": one.classes,
        "objects": one.objects,
        "why": one.why,
        "derivation": _derivation(one.derivation),
    }


def gate_row(gate: Gate) -> Mapping[str, object]:
    """Return a gate with its keys."""
    return {
        "path": gate.path,
        "line": gate.line,
        "expression": gate.expression,
        "on": gate.on,
        "layer": gate.layer,
        "covers": gate.covers,
        "armed": gate.armed,
    }


def finding_row(finding: ReportedFinding) -> Mapping[str, object]:
    """Return a finding with its keys."""
    return {
        "check": finding.check,
        "severity": finding.severity,
        "confidence": finding.confidence,
        "message": finding.message,
        "fingerprint": finding.fingerprint,
        "path": finding.path,
        "line": finding.line,
        "column": finding.column,
        "end_line": finding.end_line,
        "end_column": finding.end_column,
        "function": finding.function,
        "class": finding.class_,
        "method": finding.method,
        "buffer": finding.buffer,
        "executions": finding.executions,
        "sites": finding.sites,
        "status": finding.status,
        "justification": finding.justification,
        "confirmation": finding.confirmation,
        "witness": _steps(finding.witness),
        "related": _steps(finding.related),
        "fix": _fix(finding.fix),
        "unfixed": finding.unfixed,
        "hints": finding.hints,
    }


def _fix(fix: Fix | None) -> Mapping[str, object] | None:
    if fix is None:
        return None
    return {
        "path": fix.path,
        "line": fix.line,
        "end_line": fix.end_line,
        "text": fix.text,
        "gate": fix.gate,
        "like": fix.like,
    }


def _steps(steps: Iterable[Step]) -> list[Mapping[str, object]]:
    return [step_row(step) for step in steps]


def step_row(step: Step) -> Mapping[str, object]:
    """Return a step with its keys."""
    return {"path": step.path, "line": step.line, "function": step.function, "what": step.what}


def _problem(problem: ReportedProblem) -> Mapping[str, object]:
    return {"path": problem.path, "line": problem.line, "what": problem.what, "relevant": problem.relevant}
