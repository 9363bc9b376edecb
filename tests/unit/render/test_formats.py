"""All formats tell the same findings in the same order; each keeps the rules of those who read it."""

from __future__ import annotations

import html
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.render import FORMATS, Page, clean, read_documentation
from auditor.render import github as github_format
from auditor.render import markdown as markdown_format
from auditor.render.documentation import parts
from auditor.triage import Report
from tests.unit.render import sample

PAGE = Page(lines=sample.lines)
MARKED = tuple(replace(one, fingerprint=f"{n:016x}") for n, one in enumerate(sample.FINDINGS, 0xF00D))
"""Findings with fingerprints that are found again in any text."""
REPORT = replace(sample.REPORT, findings=MARKED)


def told(name: str, report: Report, page: Page = PAGE) -> list[str]:
    """The fingerprints of a report in the order in which they first appear in its text."""
    return list(dict.fromkeys(re.findall(r"\b0{12}f0[0-9a-f]{2}\b", FORMATS[name](report, page))))


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "text"])
def test_every_format_lists_the_same_fingerprints_in_the_same_order(name: str) -> None:
    """New, known, suppressed and unsure ones: none is left out, merged or sorted away."""
    assert told(name, REPORT) == [finding.fingerprint for finding in MARKED]


@pytest.mark.parametrize("name", ["text", "markdown", "html"])
def test_what_people_read_tells_findings_with_one_missing_wait_once(name: str) -> None:
    """Each keeps its fingerprint; a finding with another path, check or message stands by itself."""
    first, other = (replace(one, fingerprint=f"{n:016x}") for n, one in enumerate(sample.ALIKE, 0xF00D))
    hint = first.hints[1]
    one = replace(sample.REPORT, findings=(first, other))
    assert told(name, one) == [first.fingerprint, other.fingerprint]
    assert FORMATS[name](one, Page(width=1000)).count(hint) == 1
    for apart in (
        replace(other, witness=other.witness[1:]),
        replace(other, check="ungated-access"),
        replace(other, message="`Pool.set` reads Pool.v_buffer"),
        replace(other, witness=()),
    ):
        two = replace(sample.REPORT, findings=(first, apart))
        assert told(name, two) == [first.fingerprint, apart.fingerprint]
        assert FORMATS[name](two, Page(width=1000)).count(hint) == 2


def test_text_lists_them_in_that_order_too() -> None:
    """Text tells the findings that count, each with its fingerprint, and counts the others."""
    errors_first = replace(REPORT, findings=(MARKED[1], MARKED[0], *MARKED[2:]))
    assert told("text", errors_first) == [MARKED[1].fingerprint, MARKED[0].fingerprint]
    assert told("json", errors_first)[:2] == told("text", errors_first)


@pytest.mark.parametrize("name", list(FORMATS))
def test_same_report_same_bytes(name: str) -> None:
    assert FORMATS[name](REPORT, PAGE) == FORMATS[name](REPORT, PAGE)


@pytest.mark.parametrize("name", list(FORMATS))
def test_a_clean_report_says_what_was_audited(name: str) -> None:
    """Silence is not an answer: without findings there is still a text (GitLab wants the empty list)."""
    written = FORMATS[name](sample.CLEAN_REPORT, PAGE)
    assert written == "[]\n" if name == "gitlab" else written.strip()


@pytest.mark.parametrize("name", list(FORMATS))
def test_a_suppressed_finding_says_why(name: str) -> None:
    """Whoever reads a report sees what was decided, and the reason."""
    decided = replace(MARKED[-1], justification="the pool is private to this test")
    written = FORMATS[name](replace(REPORT, findings=(decided,)), PAGE)
    assert "the pool is private to this test" in " ".join(written.split())


# ---------------------------------------------------------------- GitHub


def commands(report: Report, page: Page = PAGE) -> list[tuple[str, dict[str, str], str]]:
    """The annotations that GitHub's runner would find, read by its rules."""
    found = []
    for line in FORMATS["github"](report, page).splitlines():
        if match := re.match(r"\s*::(\w+) ([^:]*)::(.*)", line):
            values = dict(pair.split("=", 1) for pair in match[2].split(","))
            found.append((match[1], {name: unescaped(value) for name, value in values.items()}, unescaped(match[3])))
    return found


def unescaped(text: str) -> str:
    for code, mark in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, mark)
    return text


def test_github_annotates_what_is_new() -> None:
    """Known and suppressed findings are plain lines; an unsure error is a notice; the last line counts all."""
    found = commands(REPORT, replace(PAGE, prefix="python/"))
    assert [kind for kind, *_ in found] == ["warning", "error", "notice", *["notice"] * 5, "notice", "notice"]
    assert found[1][1] == {
        "file": f"python/{sample.INDEXER}", "line": "140", "endLine": "140", "col": "10", "endColumn": "112",
        "title": "bufgate: bypassed-owner",
    }  # fmt: skip
    assert found[-1][2].startswith("1 error, 1 warning and 6 notes")
    assert f"suppressed[ungated-access]: {sample.INDEXER}:320:17" in FORMATS["github"](REPORT, PAGE)


def test_github_keeps_its_limits_and_counts_the_rest() -> None:
    """Ten of a level, worst first; one notice is kept for the count; what is over is a plain line of the log."""
    levels = ("error", "warning", "note")
    many = [replace(MARKED[1], severity=level, fingerprint=f"{level}-{n}") for level in levels for n in range(25)]
    report = replace(REPORT, findings=tuple(many))
    found = commands(report)
    assert [sum(kind == one for kind, *_ in found) for one in ("error", "warning", "notice")] == [10, 10, 10]
    assert found[-1][2].endswith("46 more findings without an annotation: see the log of this step.")
    assert all(f"[{one.fingerprint}]" in FORMATS["github"](report, PAGE) for one in many)


def test_github_tells_relevant_problems() -> None:
    assert f"problem: {sample.INDEXER}:12: syntax error" in FORMATS["github"](REPORT, PAGE)


@given(
    st.text(st.characters(), max_size=20), st.sampled_from(["::error::x", "##[add-path]x", "%0A::x", "\n::error::x"])
)
def test_github_obeys_nothing_of_the_audited_code(noise: str, command: str) -> None:
    """No text of a finding makes a command, whatever line it stands in."""
    dirty = replace(MARKED[1], message=f"{noise}{command}", path=f"{command}{noise}", check=command, function=command)
    report = replace(REPORT, findings=(dirty, replace(dirty, status="known")))
    written = FORMATS["github"](report, PAGE)
    lines = written.splitlines()
    assert "##[" not in written
    assert [line.split(" ")[0] for line in lines if line.lstrip().startswith("::")] == ["::error", "::notice"]
    assert all(line.isprintable() for line in lines)
    assert len(lines) == 4  # two findings, one problem, the sentence
    shown = clean(f"{noise}{command}").replace("##[", "# #[")
    assert commands(report)[0][2] == f"{shown} [{dirty.fingerprint}]"


# ---------------------------------------------------------------- GitLab, rdjson


def test_gitlab_issues_have_what_the_widget_reads() -> None:
    """Description, check, fingerprint, one of five severities, a path and a line; fingerprints are unique."""
    issues = json.loads(FORMATS["gitlab"](REPORT, replace(PAGE, prefix="python/")))
    assert all(set(one) == {"check_name", "description", "severity", "fingerprint", "location"} for one in issues)
    assert {one["severity"] for one in issues} <= {"info", "minor", "major", "critical", "blocker"}
    assert len({one["fingerprint"] for one in issues}) == len(issues)
    assert issues[1]["location"] == {"path": f"python/{sample.INDEXER}", "lines": {"begin": 140}}
    assert [one["severity"] for one in issues[:3]] == ["major", "critical", "info"]
    assert issues[-1]["description"] == "(suppressed) a suppressed one"


def test_rdjson_columns_count_bytes() -> None:
    """Two characters of three bytes before the place move it by four."""
    found = replace(MARKED[1], line=1, column=6, end_line=1, end_column=10)
    page = Page(lines=lambda _path: ["字 = 字pool"])
    document = json.loads(FORMATS["rdjson"](replace(REPORT, findings=(found,)), page))
    (diagnostic,) = document["diagnostics"]
    assert document["source"] == {"name": "bufgate"}
    assert diagnostic["location"]["range"] == {"start": {"line": 1, "column": 10}, "end": {"line": 1, "column": 14}}
    assert (diagnostic["severity"], diagnostic["code"]) == ("ERROR", {"value": "bypassed-owner"})


# ---------------------------------------------------------------- JUnit


def test_junit_counts_are_true() -> None:
    """Sure errors and warnings fail, the rest is skipped with the reason, a relevant problem is an error."""
    root = ET.fromstring(FORMATS["junit"](REPORT, PAGE))
    (suite,) = root
    cases = suite.findall("testcase")
    for element in (root, suite):
        counts = [int(element.attrib[name]) for name in ("tests", "failures", "errors", "skipped")]
        assert counts == [
            len(cases),
            *(len(suite.findall(f"testcase/{kind}")) for kind in ("failure", "error", "skipped")),
        ]
    assert [int(suite.attrib[name]) for name in ("failures", "errors", "skipped")] == [2, 1, 8]
    reasons = [case[0].attrib["message"].split(":")[0] for case in cases if case.find("skipped") is not None]
    assert reasons == [*["note"] * 6, "low confidence", "suppressed"]
    assert "model_runner.py:1811" in (suite.findall("testcase/failure")[1].text or "")


def test_junit_of_a_clean_report_has_one_test() -> None:
    (suite,) = ET.fromstring(FORMATS["junit"](sample.CLEAN_REPORT, PAGE))
    assert [case.attrib["name"] for case in suite] == [
        "No new findings in 1 site of sglang 0.5.23; every site was decided."
    ]


# ---------------------------------------------------------------- Markdown


def test_markdown_ends_before_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worst findings are there, the rest is counted, what was audited stands at the end."""
    monkeypatch.setattr(markdown_format, "LIMIT", 6_000)
    written = FORMATS["markdown"](replace(REPORT, findings=MARKED * 9), PAGE)
    assert len(written.encode()) < 6_100
    assert re.search(r"\n\d+ more findings: `-o json` lists all of them\.\n", written)
    assert written.endswith("</details>\n")


def test_markdown_names_are_code() -> None:
    """What a sentence quotes is shown as code, and never as markup of its own."""
    written = FORMATS["markdown"](REPORT, PAGE)
    assert "when <code>chunked</code> is false" in written
    assert "1. <code>sglang/srt/managers/scheduler.py:2410</code> <code>Scheduler.run_batch</code>: calls" in written


def test_limits_are_those_of_the_hosts() -> None:
    assert (github_format.LIMIT, markdown_format.LIMIT) == (10, 900 * 1024)


# ---------------------------------------------------------------- text from audited code

anything = st.text(st.characters(), max_size=8)
MARKS = [
    "\x1b[31m",
    "\u202e",
    "\n",
    "\x00",
    "\u2028",
    "\ud800",
    "]]>",
    "</details>",
    "<script>x</script>",
    '"',
    "{0}",
    "`",
]


CODE = "# code\n"
"""What the lines of a fix start with here: code is shown as lines, if each of them shows all that it holds."""


def dirtied(dirty: str) -> Report:
    """A report whose every text is the same dirty one."""
    step = replace(sample.UNGATED.witness[0], path=dirty, what=dirty, function=dirty)
    finding = replace(
        MARKED[1],
        check=dirty, message=dirty, path=dirty, function=dirty, class_=dirty, method=dirty, buffer=dirty,
        fingerprint=dirty, justification=dirty, executions=(dirty,), confirmation=dirty, hints=(dirty,),
        sites=(dirty,), witness=(step,), related=(step,),
        fix=replace(sample.FIX, path=dirty, text=CODE + dirty, gate=dirty, like=dirty),
    )  # fmt: skip
    gate = replace(sample.GATE, path=dirty, expression=dirty, on=dirty, layer=dirty, covers=dirty, armed=dirty)
    binding = replace(
        sample.GATED,
        classes=(dirty,), objects=(dirty,), method=dirty, scenario=dirty, when=(dirty,), reason=dirty,
        assumptions=(dirty,), derivation=(step,), gates=(gate,),
    )  # fmt: skip
    site = replace(sample.SITES[0], id=dirty, path=dirty, name=dirty, receiver=dirty, function=dirty, open=(dirty,))
    bindings = (binding, replace(binding, verdict="ungated"), replace(binding, verdict="unknown", witness=(step,)))
    return replace(
        REPORT,
        engine=replace(REPORT.engine, name=dirty, version=dirty, pack=dirty),
        scenarios=(replace(REPORT.scenarios[0], id=dirty, what=dirty, path=dirty),),
        stats=replace(REPORT.stats, unknown_reasons={dirty: 1}),
        sites=(replace(site, bindings=bindings),),
        findings=(finding, replace(finding, severity="note"), replace(finding, status="known")),
        problems=(replace(REPORT.problems[0], what=dirty, path=dirty),),
        configuration=dirty,
        notes=(dirty,),
    )


DOCUMENTATION = {
    text
    for section in read_documentation().values()
    for text in (section, "\n\n".join(text for kind, text in parts(section) if kind == "text"))
}
"""What the tool itself says of its checks: the only texts of several lines."""


def texts(node: Any) -> Iterable[str]:
    """Every text of a JSON document."""
    if isinstance(node, dict):
        node = [*node, *node.values()]
    if isinstance(node, list):
        for item in node:
            yield from texts(item)
    elif isinstance(node, str):
        yield node


@given(anything, st.sampled_from(MARKS))
@pytest.mark.parametrize("name", [name for name in FORMATS if name not in ("text", "json")])
def test_formats_stay_what_they_are(name: str, noise: str, mark: str) -> None:
    """JSON is JSON, XML is XML, and no control character, bidi mark or half character comes through."""
    dirty = f"{noise}{mark}{noise}"
    written = FORMATS[name](dirtied(dirty), Page(lines=lambda _path: [dirty] * 400))
    written.encode()
    if name in ("sarif", "gitlab", "rdjson"):
        shown = (text.replace("\u200b", "") for text in texts(json.loads(written)) if text not in DOCUMENTATION)
        lines = (
            line for text in shown for line in (text.expandtabs().split("\n") if text.startswith(CODE) else [text])
        )
        assert all(line.isprintable() for line in lines)
    elif name == "junit":
        ET.fromstring(written)
    assert all(character.isprintable() or character in "\n\u200b" for character in written)


# ---------------------------------------------------------------- fixes


@pytest.mark.parametrize("name", ["text", "markdown", "html"])
def test_a_fix_is_shown_with_its_place_and_its_pattern(name: str) -> None:
    shown = re.sub(r"<.*?>", "", html.unescape(FORMATS[name](REPORT, PAGE)))
    place, pattern, gate = map(re.escape, (f"{sample.FIX.path}:{sample.FIX.line}", sample.FIX.like, sample.FIX.gate))
    assert re.search(rf"before {place}, as {pattern} waits[:\s+|]*{gate}", shown)


def test_text_says_how_to_apply_it() -> None:
    assert "apply: bufgate fix --fingerprint 00000000" in FORMATS["text"](REPORT, PAGE)


def test_rdjson_suggests_whole_lines() -> None:
    (one,) = (each for each in json.loads(FORMATS["rdjson"](REPORT, PAGE))["diagnostics"] if "suggestions" in each)
    (suggestion,) = one["suggestions"]
    width = len(sample.SOURCES[sample.FIX.path][sample.FIX.end_line]) + 1
    assert suggestion["range"] == {"start": {"line": 140, "column": 1}, "end": {"line": 140, "column": width}}
    assert suggestion["text"] == sample.FIX.text
