"""What comments, summary and check run say: Markdown, in which everything that came from others is escaped."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from auditor import render
from auditor.render import clean, count, prose, short
from auditor.review.artifact import Artifact, Introduced
from auditor.review.policy import Policy
from auditor.triage import Fix, Step

LIMIT = 60_000
"""Characters of a text; hosts take 65,535."""
_TEXT, _NAME = 500, 200
"""Characters of a sentence and of a name, before they are escaped."""
_MARGIN = 1_000
_SHOWN = 10
_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


@dataclass(frozen=True, slots=True)
class Links:
    """Addresses of lines: at ``server`` in ``repository``. Both come from who runs the bot, never from the artifact."""

    server: str
    repository: str

    def place(self, path: str, line: int, commit: str) -> str:
        """Return ``path:line`` as a link to the line at a commit; a path outside of the repository is no link."""
        shown = code(f"{path}:{line}" if line else path)
        if path.startswith("<"):
            return shown
        where = quote(path.encode("utf-8", "replace"))
        return f"[{shown}]({self.server}/{self.repository}/blob/{commit}/{where}{f'#L{line}' if line else ''})"


# ---------------------------------------------------------------- a comment


def told(
    findings: Sequence[Introduced], artifact: Artifact, links: Links, *, again: bool = False, suggested: bool = False
) -> str:
    """Say what is wrong, where it is read, and the path that leads there, of the first finding; name the others.

    Args:
        again: it was closed before.
        suggested: the comment stands on the lines that the fix replaces.
    """
    first = findings[0]
    back = ["", f"It is back since {_commit(artifact.head)}."] if again else []
    head = [_title(first), *back]
    for group in render.together(findings):
        head += [] if group[0] is first else ["", _title(group[0])]
        head += ["", *_where(group, artifact, links)]
    marks = ", ".join(code(one.fingerprint) for one in findings[:_SHOWN])
    foot = [
        "",
        f"<sub>{first.confidence} confidence · fingerprint {marks} · "
        f"{code(f'bufgate explain {first.check}')} says more</sub>",
    ]
    steps = [f"1. {_step(step, artifact.head, links)}" for step in first.witness]
    begin = ["", f"<details><summary>The path: {count(len(steps), 'step')}</summary>", ""] if steps else []
    end = ["", "</details>"] if steps else []
    suggestion = _suggestion(first.fix) if suggested and first.fix else []
    return "\n".join([*_within(head, LIMIT // 2), *suggestion, *begin, *_within(steps, LIMIT // 3), *end, *foot])


def _where(group: Sequence[Introduced], artifact: Artifact, links: Links) -> Iterator[str]:
    """Where the first of some findings that are told as one is read, and what the others read on the same path."""
    finding, *others = group
    yield f"Read at {links.place(finding.path, finding.line, artifact.head)}{_in(finding.function)}."
    yield from (f"- likewise: {_step(one.witness[-1], artifact.head, links)}" for one in others)
    for step in finding.gates:
        what = "before, this waited" if step.function else "the gate was"
        yield f"- {what}: {_step(step, artifact.base, links)}"
    yield from (f"- {_prose(hint)}" for hint in finding.hints if not hint.startswith("lost gate"))


def _suggestion(fix: Fix) -> list[str]:
    """A block that the host offers to take over; none for a text with characters that do not show what they are."""
    lines = fix.text.split("\n")
    if len(fix.text) > _MARGIN * 4 or any(clean(line) != line.replace("\t", "\\t") for line in lines):
        return []
    longest = max((len(run) for run in re.findall("`+", fix.text)), default=0)
    fence = "`" * max(3, longest + 1)
    like = f"As at {code(fix.like)}; nobody has run or audited it yet:"
    return ["", like, "", f"{fence}suggestion", *lines, fence]


def closed(text: str, because: str) -> str:
    """Strike what a comment said; ``because`` is Markdown."""
    title, _, rest = text.replace("\r\n", "\n").partition("\n")
    return f"~~{title}~~\n\n{because}\n\n<details><summary>What was told</summary>\n{rest}\n</details>"


def fixed(head: str) -> str:
    return f"Fixed in {_commit(head)}."


def suppressed(findings: Iterable[Introduced]) -> str:
    reasons = dict.fromkeys(one.justification for one in findings)
    return f"Suppressed: {'; '.join(map(_prose, reasons))}"


def moved() -> str:
    return "This line is in the diff no more; the finding is told anew where it is now."


# ---------------------------------------------------------------- the summary


def title(artifact: Artifact, policy: Policy) -> str:
    """Say in some words how the review ended; plain text."""
    if artifact.problems:
        return f"not complete: {count(len(artifact.problems), 'problem')} in relevant files"
    new = [one for one in artifact.introduced if one.status == "new"]
    failing = sum(map(policy.fails, new))
    if failing:
        return f"{count(failing + artifact.left_out, 'finding')} introduced"
    return f"{count(len(new), 'finding')} below the bar introduced" if new else "nothing introduced"


def summary(artifact: Artifact, policy: Policy, links: Links, places: Mapping[str, str]) -> str:
    """Tell everything that the artifact holds, worst first. ``places``: fingerprint → where it is told, in words."""
    head = [f"## bufgate: {title(artifact, policy)}", "", render.escape(artifact.coverage[:_TEXT], markdown=True), ""]
    version = render.escape(artifact.tool_version)
    foot = ["", f"<sub>{_commit(artifact.head)} against {_commit(artifact.base)} · bufgate {version}</sub>"]
    body: list[str] = []
    room = LIMIT - sum(len(line) + 1 for line in (*head, *foot)) - _MARGIN
    for section in _sections(artifact, policy, links, places):
        kept = _within(section, room)
        room -= sum(len(line) + 1 for line in kept)
        body += kept
    return "\n".join([*head, *body, *foot])


def _sections(artifact: Artifact, policy: Policy, links: Links, places: Mapping[str, str]) -> Iterator[list[str]]:
    if artifact.problems:
        yield (
            ["The audit is not complete, so what is missing below may be there:", ""]
            + [f"- {render.escape(problem[:_TEXT], markdown=True)}" for problem in artifact.problems]
            + [""]
        )
    new = [one for one in artifact.introduced if one.status == "new"]
    loud = [one for one in new if policy.loud(one)]
    quiet = [one for one in new if not policy.loud(one)]
    if loud:
        yield (
            ["| | introduced | read at | told |", "| --- | --- | --- | --- |"]
            + [
                f"| {one.severity} | {code(one.check)} {_prose(one.message)} "
                f"| {links.place(one.path, one.line, artifact.head)} | {places.get(one.fingerprint, 'here')} |"
                for one in loud
            ]
            + [""]
        )
    if artifact.left_out:
        yield [f"{count(artifact.left_out, 'more finding')}: the log of `bufgate review collect` counts them.", ""]
    if quiet:
        yield ["Below the bar:", ""] + [_row(one, artifact.head, links) for one in quiet] + [""]
    if silent := [one for one in artifact.introduced if one.status == "suppressed"]:
        yield (
            ["Suppressed in this pull request:", ""]
            + [f"{_row(one, artifact.head, links)}; {_prose(one.justification)}" for one in silent]
            + [""]
        )
    if artifact.fixed:
        yield (
            [f"Fixed by this pull request: {count(len(artifact.fixed), 'finding')} of the base.", ""]
            + [
                f"- {code(one.check)} in {code(short(one.function) or one.path)} "
                f"({links.place(one.path, one.line, artifact.base)})"
                for one in artifact.fixed
            ]
            + [""]
        )
    if artifact.known:
        yield [f"{count(artifact.known, 'finding')} of the base are there as before.", ""]


def _row(one: Introduced, commit: str, links: Links) -> str:
    return f"- {one.severity} {code(one.check)} {_prose(one.message)} ({links.place(one.path, one.line, commit)})"


def annotation(finding: Introduced) -> tuple[str, str]:
    """Return title and message of an annotation: plain text, which the host shows as it is."""
    path = "\n".join(f"{step.path}:{step.line} {step.what}" for step in finding.witness)
    lines = [clean(line[:_TEXT]) for line in f"{finding.message}\n{path}".split("\n")]
    return f"bufgate: {finding.check}", "\n".join(lines)[:LIMIT]


def commands(artifact: Artifact) -> Iterator[str]:
    """Tell the findings as workflow commands, which need no token: ten of a level, as many as GitHub shows."""
    shown: Counter[str] = Counter()
    for one in artifact.introduced:
        shown[one.severity] += 1
        if one.status == "new" and shown[one.severity] <= _SHOWN:
            heading, message = annotation(one)
            values = {"file": one.path, "line": max(1, one.line), "title": heading}
            yield render.workflow_command(_COMMANDS[one.severity], values, message)


# ---------------------------------------------------------------- pieces


def _title(finding: Introduced) -> str:
    return f"**{finding.severity}: {finding.check}** {_prose(finding.message)}"


def _in(function: str) -> str:
    return f" in {code(short(function))}" if function else ""


def _step(step: Step, commit: str, links: Links) -> str:
    function = f" {code(short(step.function))}:" if step.function else ""
    return f"{links.place(step.path, step.line, commit)}{function} {_prose(step.what)}"


def code(text: str) -> str:
    return f"<code>{render.escape(text[:_NAME], markdown=True)}</code>"


def _prose(text: str) -> str:
    return prose(text[:_TEXT], markdown=True)


def _commit(commit: str) -> str:
    return f"<code>{commit[:12]}</code>"


def _within(lines: Iterable[str], room: int) -> list[str]:
    """Keep the lines that fit, and count the others."""
    kept: list[str] = []
    rows = list(lines)
    for number, line in enumerate(rows):
        room -= len(line) + 1
        if room < 0:
            return [*kept, f"… and {count(len(rows) - number, 'more line')}"]
        kept.append(line)
    return kept
