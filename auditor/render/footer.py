"""What the run saw and what it could not tell: the sentence of the whole run and the footer under every report."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from auditor.render.page import Page, is_sure
from auditor.render.plain import clean, count, joined, place, wrapped
from auditor.triage import Report, ReportedFinding, ReportedProblem

SHOWN_PROBLEMS = 5
SHOWN_SCENARIOS = 3
COLUMN = 11
"""Width of the names on the left."""


def sentence(report: Report, min_confidence: str = "medium") -> str:
    """Say in one sentence how the run ended. It never says that anything is safe."""
    new = [finding for finding in report.findings if finding.status == "new"]
    sure = [finding for finding in new if is_sure(finding, min_confidence)]
    engine = f"{clean(report.engine.name)} {clean(report.engine.version)}".strip()
    aside = [
        *_some(len(new) - len(sure), f"below {min_confidence} confidence"),
        *_some(len(report.findings) - len(new), "known or suppressed"),
    ]
    but = [
        *_some(report.stats.verdicts.get("unknown", 0), "could not be decided"),
        *_incomplete(sum(problem.relevant for problem in report.problems)),
    ]
    found = joined(_counted(sure)) or "No new findings"
    also = f" ({', '.join(aside)})" if aside else ""
    return (
        f"{found} in {count(report.stats.sites, 'site')} of {engine}{also}; {joined(but) or 'every site was decided'}."
    )


def _some(number: int, what: str) -> list[str]:
    return [f"{number:,} {what}"] if number else []


def _incomplete(problems: int) -> list[str]:
    leaves = "leaves" if problems == 1 else "leave"
    return [f"{count(problems, 'relevant problem')} {leaves} the audit incomplete"] if problems else []


def _counted(findings: list[ReportedFinding]) -> list[str]:
    numbers = {severity: sum(f.severity == severity for f in findings) for severity in ("error", "warning", "note")}
    return [count(number, severity) for severity, number in numbers.items() if number]


def footer(report: Report, page: Page) -> list[str]:
    """Write the coverage of the run: always the same rows, zeros included."""
    lines: list[str] = []
    for name, value in coverage(report, page.place):
        lines += _row(page, name, value)
        if name == "problems":
            lines += [line for problem in _problem_lines(report.problems, page) for line in _row(page, "", problem)]
    return lines


def coverage(report: Report, at: Callable[[str, int], str] = place) -> list[tuple[str, str]]:
    """Return what the run saw, as names and clean values; ``at`` writes places."""
    rows = [
        ("engine", _engine(report)),
        ("read", _read(report)),
        ("sites", _sites(report)),
        ("bindings", _bindings(report)),
        ("scenarios", _scenarios(report, at)),
        ("assumed", count(report.stats.assumptions_used, "assumption") + " of the pack"),
        *(("verified", _verified(report)) for _ in range(bool(report.stats.verified))),
        ("problems", _problem_counts(report)),
        ("config", at(report.configuration, 0) or "none found, defaults used"),
        *(("note", clean(note)) for note in report.notes),
    ]
    time = [] if report.stats.seconds is None else [("time", f"{report.stats.seconds:.1f} s")]
    return rows + time


def _row(page: Page, name: str, value: str) -> list[str]:
    first, *rest = wrapped(value, page.width, " " * COLUMN)
    return [page.faint(name.ljust(COLUMN)) + first[COLUMN:], *rest]


def _verified(report: Report) -> str:
    verified = report.stats.verified
    partly = f", {verified['partly']} of them in part" if verified["partly"] else ""
    return f"{verified['hold']} of {count(verified['certificates'], 'certificate')} hold{partly}"


def _engine(report: Report) -> str:
    engine = report.engine
    return f"{clean(engine.name)} {clean(engine.version)}".strip() + f", rule pack {clean(engine.pack)}"


def _read(report: Report) -> str:
    stats = report.stats
    others = "; the others name no pool, gate or accessor" if stats.files_parsed < stats.files else ""
    return f"{count(stats.files, 'file')} seen, {stats.files_parsed:,} parsed{others}"


def _sites(report: Report) -> str:
    verdicts = report.stats.verdicts
    order = ("ungated", "unknown", "latent", "gated", "exempt")
    return f"{report.stats.sites:,}: " + ", ".join(f"{verdicts.get(name, 0):,} {name}" for name in order)


def _bindings(report: Report) -> str:
    unknown = sum(binding.verdict == "unknown" for site in report.sites for binding in site.bindings)
    reasons = sorted(report.stats.unknown_reasons.items(), key=lambda item: (-item[1], item[0]))
    why = ": " + ", ".join(f"{clean(reason)} {number:,}" for reason, number in reasons) if reasons else ""
    return f"{report.stats.bindings:,}: {report.stats.bindings - unknown:,} resolved, {unknown:,} unknown{why}"


def _scenarios(report: Report, at: Callable[[str, int], str]) -> str:
    if not report.scenarios:
        return "none: no construction of a loader was found"
    shown = [f"{clean(s.what)} at {at(s.path, s.line)}" for s in islice(report.scenarios, SHOWN_SCENARIOS)]
    more = len(report.scenarios) - len(shown)
    return f"{len(report.scenarios)}: " + "; ".join(shown) + (f"; and {more} more" if more else "")


def _problem_counts(report: Report) -> str:
    relevant = sum(problem.relevant for problem in report.problems)
    others = len(report.problems) - relevant
    if not report.problems:
        return "none"
    return f"{relevant:,} in relevant files, {others:,} in other files"


def _problem_lines(problems: tuple[ReportedProblem, ...], page: Page) -> list[str]:
    relevant = [problem for problem in problems if problem.relevant]
    others = [problem for problem in problems if not problem.relevant]
    lines = [f"{page.error('relevant')}  {_problem(problem, page)}" for problem in relevant]
    lines += [f"other  {_problem(problem, page)}" for problem in others[:SHOWN_PROBLEMS]]
    if len(others) > SHOWN_PROBLEMS:
        lines.append(f"and {len(others) - SHOWN_PROBLEMS:,} more: -o json lists all of them")
    return lines


def _problem(problem: ReportedProblem, page: Page) -> str:
    return f"{page.place(problem.path, problem.line)}  {clean(problem.what)}"
