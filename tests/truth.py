"""Behind `make truth`: what the audit says of every case of ../shared/truth/cases.json. Prints, asserts nothing.

    python -m tests.truth [ID ...]

hazard     an error or warning at the place in the bug release, none there in the fix release
safe       no error or warning and no ungated site at the place
latent     verdict latent at the place, no error or warning
undecided  no error or warning, or one of the case's checks
others     (producer checks, out of scope) shown; right if the case's checks tell it, or nothing where it has none
           For checks of loaders: right if the fix release no longer tells one of the findings of the bug release.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from auditor.errors import ReleaseUnavailable
from auditor.source import fetch_release
from auditor.triage import VERDICTS
from tests.corpus.audits import ROOT, Audit, audit_release

CASES = ROOT.parent / "shared" / "truth" / "cases.json"
LOADER_CHECKS = frozenset(
    ("signal-before-copy", "unfenced-transfer", "untransferred-buffer", "layer-range-mismatch", "counter-reuse")
)
PACKS = frozenset({"lmcache", "sglang", "vllm", "vllm-ascend"})
NEWEST = {"sglang": "0.5.23"}
_VERSION = re.compile(r"\d+\.\d+(?:\.\d+)?(?:\.post\d+)?")
_FILE = re.compile(r"[\w/]+\.py\b")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{3,}")
_LINES = re.compile(r"(?<![\w.])(\d{2,5})(?:-(\d{2,5}))?")
Json = dict[str, Any]


class Place(NamedTuple):
    """Where a case says that something is: ends of paths, names of classes and of methods; empty: anywhere.
    Where it names ``lines``, what is told counts at these alone; so do sites, unless there are none."""

    files: frozenset[str]
    classes: frozenset[str]
    methods: frozenset[str]
    lines: frozenset[tuple[str, int]]

    def holds(self, path: str, names: set[str], line: int) -> bool:
        if self.lines:
            return any(path.endswith(file) and line == wanted for file, wanted in self.lines)
        return self.is_named(path, names)

    def is_named(self, path: str, names: set[str]) -> bool:
        in_file = not self.files or any(path == file or path.endswith(f"/{file}") for file in self.files)
        return in_file and all(not wanted or bool(wanted & names) for wanted in (self.classes, self.methods))


class Answer(NamedTuple):
    """What the report of a release has at a place."""

    told: list[Json]
    sites: list[Json]

    def words(self) -> str:
        if self.told:
            first = self.told[0]
            more = f" and {len(self.told) - 1} more" if len(self.told) > 1 else ""
            where = f"{_short(first['function'])} {first['path']}:{first['line']}"
            return f"{first['check']} ({first['confidence']}) {where}{more}"
        if self.sites:
            counted = Counter(site["verdict"] for site in self.sites)
            return "sites: " + ", ".join(f"{counted[verdict]} {verdict}" for verdict in VERDICTS if counted[verdict])
        return "nothing"


class Row(NamedTuple):
    case: str
    releases: str
    expected: str
    bug: str
    fix: str
    mark: str


def main(wanted: list[str]) -> int:
    if not CASES.is_file():
        print(f"truth: {CASES} is not there; it lies beside the checkout, not in it", file=sys.stderr)
        return 2
    cases = json.loads(CASES.read_text(encoding="utf-8"))["cases"]
    rows = []
    for case in cases:
        if not wanted or case["id"] in wanted:
            row = judge(case)
            rows.append(row)
            print(f"{row.mark:8}{row.case:7}{row.expected[:14]:15}{row.releases}", flush=True)
            for label, text in (("bug", row.bug), ("fix", row.fix)):
                if text:
                    print(f"{'':15}{label}: {text}", flush=True)
    marks = [row.mark for row in rows]
    counts = ", ".join(f"{marks.count(mark)} {mark}" for mark in dict.fromkeys(marks))
    decided = marks.count("ok") + marks.count("WRONG")
    print(f"\n{marks.count('ok')} of {decided} right ({counts}; {len(rows)} cases)")
    return 0


def judge(case: Json) -> Row:
    """Audit the releases of a case and compare."""
    releases = _releases(case)
    shown = " -> ".join(filter(None, releases)) or "no release"
    if case["project"] not in PACKS:
        return Row(case["id"], f"{case['project']} {shown}", case["expected"], "", "", "no pack")
    bug, fix = (_answer(case, version) for version in releases)
    said = [answer if isinstance(answer, str) else answer.words() for answer in (bug, fix)]
    if isinstance(bug, str) or (isinstance(fix, str) and releases[1]):
        return Row(case["id"], shown, case["expected"], said[0], said[1], "no audit")
    right = _is_right(case, bug, None if isinstance(fix, str) else fix)
    return Row(case["id"], shown, case["expected"], said[0], said[1], "ok" if right else "WRONG")


def _is_right(case: Json, bug: Answer, fix: Answer | None) -> bool:
    checks = set(case.get("checks", ()))
    by_check = [finding for finding in bug.told if not checks or finding["check"] in checks]
    still = [finding for finding in fix.told if not checks or finding["check"] in checks] if fix else []
    if checks & LOADER_CHECKS:  # one loader may have several faults, of which the fix mends one
        gone = {finding["fingerprint"] for finding in by_check} - {finding["fingerprint"] for finding in still}
        return bool(gone) if fix else bool(by_check)
    verdicts = {site["verdict"] for answer in (bug, fix) if answer for site in answer.sites}
    match case["expected"]:
        case "hazard":
            return bool(by_check) and not still
        case "safe":
            return not bug.told and not (fix and fix.told) and "ungated" not in verdicts
        case "latent":
            return not bug.told and "latent" in verdicts
        case "undecided":
            return len(by_check) == len(bug.told)
        case _:
            return bool(by_check) and not still if checks else not bug.told


# ---------------------------------------------------------------- releases


def _releases(case: Json) -> tuple[str, str]:
    """The release with the bug and the one with the fix; a range is audited at its newest end."""
    if "release" in case:
        return _last_version(str(case["release"])) or NEWEST.get(str(case["project"]), ""), ""
    bug, fix = (_last_version(case.get(key, "")) for key in ("bug_release", "fix_release"))
    return (bug, fix) if bug else (fix, "")


def _last_version(text: str) -> str:
    return str((_VERSION.findall(text) or [""])[-1])


def _answer(case: Json, version: str) -> Answer | str:
    if not version:
        return ""
    try:
        fetch_release(f"{case['project']}=={version}")
    except ReleaseUnavailable as error:
        return f"cannot be fetched: {error}"
    audit: Audit = audit_release(f"{case['project']}=={version}")
    if not audit.text:
        return f"no report, exit status {audit.exit}: {(audit.stderr.strip().splitlines() or ['nothing said'])[0]}"
    answer = _at(audit.report, _place(case))
    answer.told.sort(key=lambda finding: finding["check"] not in case.get("checks", ()))  # the case's own first
    return answer


# ---------------------------------------------------------------- places


def _place(case: Json) -> Place:
    """Read the place off a case. A look-alike has it in one sentence: paths with lines, classes, methods."""
    if case["kind"] == "safe_lookalike" and "class" not in case:
        text = case["file"]
        files = frozenset(_FILE.findall(text))
        names = frozenset(_NAME.findall(_FILE.sub(" ", text)))
        classes = frozenset(name for name in names if re.match(r"_?[A-Z]\w*[a-z]\w*[A-Z]", name))
        methods = frozenset(name for name in names if re.fullmatch(r"_?[a-z0-9]+(_[a-z0-9]+)+", name))
        return Place(files, classes, methods, frozenset(_located(text)))
    names = frozenset(_NAME.findall(case.get("class", "")))
    named = case.get("method", "")
    if "(absent" in named:  # nothing can be told at what is not there
        named = ""
    methods = frozenset(name for name in _NAME.findall(named) if "_" in name or name == "execute")
    classes = frozenset(name for name in names if name[0].isupper())
    return Place(frozenset(_FILE.findall(case["file"])), classes, methods, frozenset())


def _located(text: str) -> Iterator[tuple[str, int]]:
    """``file.py:12-14`` and ``file.py:12, 15``: each line named."""
    for found in re.finditer(r"([\w/]+\.py)[: ]((?:\d{2,5}(?:-\d{2,5})?(?:, |/| and )?)+)", text):
        for first, last in _LINES.findall(found[2]):
            for line in range(int(first), int(last or first) + 1):
                yield found[1], line


def _at(report: Json, place: Place) -> Answer:
    told = [
        finding
        for finding in report["findings"]
        if finding["severity"] in ("error", "warning")
        and place.holds(finding["path"], _parts(finding["function"], finding["method"]), finding["line"])
    ]
    sites = [site for site in report["sites"] if place.holds(site["path"], _parts(site["function"]), site["line"])]
    if place.lines and not sites and (place.classes or place.methods):
        sites = [site for site in report["sites"] if place.is_named(site["path"], _parts(site["function"]))]
    told.sort(key=lambda finding: ("high", "medium", "low").index(finding["confidence"]))
    return Answer(told, sites)


def _parts(*names: str) -> set[str]:
    return {part for name in names for part in re.split(r"[.<>]+", name)}


def _short(name: str) -> str:
    return ".".join(name.split(".")[-2:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
