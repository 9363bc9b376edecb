"""Suppressions: ``# bufgate: ignore[check, …] until=YYYY-MM-DD -- reason`` (``until`` may be left out).

A suppression covers the findings that stand in its own statement, or, alone on its line, in the next one. One that is
not understood, gives no reason or names no check is a finding (``invalid-suppression``); so is one that covers nothing
(``unused-suppression``). After its last day a suppression hides nothing any more.
"""

from __future__ import annotations

import datetime
import difflib
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from auditor.triage.fingerprints import fingerprint
from auditor.triage.report import ReportedFinding, ordered

INVALID = "invalid-suppression"
UNUSED = "unused-suppression"

_FORM = "# bufgate: ignore[check] -- reason"
_COMMENT = re.compile(r"#[ \t]*bufgate[ \t]*:[ \t]*(?P<text>.*?)(?=\s+#\s|$)", re.MULTILINE)
_DIRECTIVE = re.compile(
    r"(?P<word>[\w-]*)\s*(?:\[(?P<checks>[^\]]*)\])?\s*(?P<options>(?:(?!--)\S+\s*)*)(?:--\s*(?P<reason>.*))?"
)


@dataclass(frozen=True, slots=True)
class Suppression:
    """One comment, from ``column`` to before ``end``. ``checks`` are those that it suppresses in the lines ``first`` to
    ``last``; ``faults`` say what is wrong with it."""

    path: str
    module: str
    line: int
    column: int
    end: int
    text: str
    first: int
    last: int
    checks: tuple[str, ...] = ()
    reason: str = ""
    until: datetime.date | None = None
    faults: tuple[str, ...] = ()

    def covers(self, finding: ReportedFinding) -> bool:
        """Whether a finding is meant, be it over or not."""
        return finding.check in self.checks and finding.path == self.path and self.first <= finding.line <= self.last

    def holds(self, today: datetime.date | None) -> bool:
        """Whether the last day is not over; without a ``today`` no suppression ends."""
        return self.until is None or today is None or today <= self.until


def read_suppressions(path: str, module: str, text: str) -> tuple[Suppression, ...]:
    """Read the suppressions of a file, in order. A file that is broken has those before the place where it breaks."""
    if not _COMMENT.search(text):
        return ()
    found = []
    for line, column, comment, first, last in _comments(text):
        match = _COMMENT.search(comment)
        if match:
            start, end = column + match.start() + 1, column + match.end() + 1
            found.append(_understood(Suppression(path, module, line, start, end, match["text"].strip(), first, last)))
    return tuple(found)


def suppress(
    findings: Iterable[ReportedFinding], suppressions: Sequence[Suppression], today: datetime.date | None
) -> tuple[ReportedFinding, ...]:
    """Give the findings that are suppressed their status, and add what is wrong with the suppressions; in order."""
    told = list(findings)
    used: set[tuple[Suppression, str]] = set()
    for number, finding in enumerate(told):
        for one in suppressions:
            if not one.covers(finding):
                continue
            used.add((one, finding.check))
            if one.holds(today):
                told[number] = replace(finding, status="suppressed", justification=one.reason)
            else:
                over = f"the suppression at {one.path}:{one.line} ended on {one.until}"
                told[number] = replace(finding, hints=(*finding.hints, over))
    told += _remarks(suppressions, used)
    return ordered(told)


# ---------------------------------------------------------------- reading


def _comments(text: str) -> Iterator[tuple[int, int, str, int, int]]:
    """Line, column (from 0), comment, and the first and last line of the statement that it stands in or before."""
    waiting: list[tuple[int, int, str]] = []
    first = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                waiting.append((*token.start, token.string))
            elif token.type == tokenize.NEWLINE:
                for line, column, comment in waiting:
                    yield line, column, comment, first, token.start[0]
                waiting, first = [], 0
            elif token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
                first = first or token.start[0]
    except (tokenize.TokenError, SyntaxError):
        pass  # the file is a problem of the report already
    for line, column, comment in waiting:
        yield line, column, comment, line, line


def _understood(written: Suppression) -> Suppression:
    """Read the text of a comment."""
    match = _DIRECTIVE.fullmatch(written.text)
    if match is None or match["word"] != "ignore":
        word = match["word"] if match else ""
        near = " Did you mean ignore[…]?" if difflib.get_close_matches(word, ["ignore"]) else ""
        return replace(written, faults=(f"`bufgate: {written.text}` is not understood.{near} Write {_FORM}",))
    faults: list[str] = []
    checks = list(_checks(match["checks"], faults))
    until = _until(match["options"], faults)
    reason = (match["reason"] or "").strip()
    if not reason:
        faults.append(f"this suppression gives no reason and suppresses nothing. Write {_FORM}")
    whole = bool(reason) and not (match["options"].strip() and until is None)
    return replace(written, checks=tuple(checks) if whole else (), reason=reason, until=until, faults=tuple(faults))


def _checks(listed: str | None, faults: list[str]) -> Iterator[str]:
    from auditor.checks import CHECKS

    known = [check.id for check in CHECKS]
    names = [name.strip() for name in (listed or "").split(",") if name.strip()]
    if not names:
        faults.append(f"this suppression names no check and suppresses nothing. Write {_FORM}")
    for name in dict.fromkeys(names):
        if name in known:
            yield name
        else:
            near = difflib.get_close_matches(name, known, n=1)
            faults.append(f"no check is called `{name}`." + (f" Did you mean `{near[0]}`?" if near else ""))


def _until(options: str, faults: list[str]) -> datetime.date | None:
    key, _, value = options.strip().partition("=")
    if not key:
        return None
    try:
        if key == "until":
            return datetime.date.fromisoformat(value)
    except ValueError:
        pass
    faults.append(f"`{options.strip()}` is not understood and nothing is suppressed. Write until=YYYY-MM-DD")
    return None


# ---------------------------------------------------------------- what is wrong with them


def _remarks(suppressions: Iterable[Suppression], used: set[tuple[Suppression, str]]) -> Iterator[ReportedFinding]:
    seen: Counter[tuple[str, ...]] = Counter()
    for one in suppressions:
        for check, what, about in _wrong(one, used):
            identity = (check, one.module, about)
            seen[identity] += 1
            yield _remark(one, check, what, fingerprint(*identity, str(seen[identity])))


def _wrong(one: Suppression, used: set[tuple[Suppression, str]]) -> Iterator[tuple[str, str, str]]:
    for fault in one.faults:
        yield INVALID, fault, fault
    for check in one.checks:
        if (one, check) not in used:
            yield UNUSED, f"no `{check}` is found here: this suppression hides nothing. Remove it", check


def _remark(one: Suppression, check: str, what: str, mark: str) -> ReportedFinding:
    return ReportedFinding(
        check=check,
        severity="warning",
        confidence="high",
        message=what,
        fingerprint=mark,
        path=one.path,
        line=one.line,
        column=one.column,
        end_line=one.line,
        end_column=one.end,
        function="",
        class_="",
        method="",
        buffer="",
        executions=(),
        sites=(),
        status="new",
        confirmation=None,
        witness=(),
        related=(),
        fix=None,
    )
