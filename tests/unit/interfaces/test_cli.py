"""The command line: what it refuses, where it writes, how it ends."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from auditor import __version__
from auditor.errors import AuditError
from auditor.interfaces.cli import main
from auditor.interfaces.output import page_width
from auditor.source import cache_home
from auditor.triage import Report
from tests.unit.interfaces import fake
from tests.unit.render import sample

WARNINGS_ONLY = replace(sample.REPORT, findings=sample.FINDINGS[:1], problems=())
LOW_ONLY = replace(WARNINGS_ONLY, findings=(replace(sample.FINDINGS[1], confidence="low"),))
KNOWN_ONLY = replace(WARNINGS_ONLY, findings=(replace(sample.FINDINGS[1], status="known"),))
COMPLETE = replace(sample.REPORT, problems=())
OTHER_PROBLEMS = replace(sample.CLEAN_REPORT, problems=sample.REPORT.problems[1:])

Run = Callable[..., Result]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with the file that the sample report speaks of."""
    file = tmp_path / sample.INDEXER
    file.parent.mkdir(parents=True)
    file.write_text("\n".join(sample.lines(sample.INDEXER)) + "\n", encoding="utf-8")
    (file.parent / "other.py").write_text("x = 1\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def run(tree: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command line with a spine that returns ``report``."""

    def runner(*arguments: str, report: Report | BaseException = sample.REPORT, calls: Any = None) -> Result:
        monkeypatch.setitem(sys.modules, fake.NAME, fake.spine(report, calls))
        return CliRunner().invoke(main, arguments, prog_name="bufgate")

    return runner


# ---------------------------------------------------------------- help


def test_version(run: Run) -> None:
    assert run("--version").stdout == f"bufgate {__version__}\n"


def test_help_lists_every_verb_once_in_a_section(run: Run) -> None:
    told = [name for _, names in main.sections for name in names]
    assert sorted(told) == sorted(main.commands)
    written = run("--help").stdout
    assert all(f"\n{heading}:" in written for heading, _ in main.sections)


@pytest.mark.parametrize("verb", sorted(main.commands))
def test_every_verb_and_option_has_help(run: Run, verb: str) -> None:
    assert run(verb, "--help").exit_code == 0
    options = [p for p in main.commands[verb].params if isinstance(p, click.Option)]
    assert all(option.help for option in options)


def test_help_names_every_format(run: Run) -> None:
    from auditor.render import FORMATS, GRAPH_FORMATS

    check, graph = run("check", "--help").stdout, run("graph", "--help").stdout
    assert all(name in check for name in FORMATS)
    assert all(name in graph for name in GRAPH_FORMATS)


# ---------------------------------------------------------------- exit statuses


@pytest.mark.parametrize(
    ("report", "arguments", "status"),
    [
        (sample.CLEAN_REPORT, [], 0),
        (COMPLETE, [], 1),
        (COMPLETE, ["--fail-on", "never"], 0),
        (WARNINGS_ONLY, [], 0),
        (WARNINGS_ONLY, ["--fail-on", "warning"], 1),
        (WARNINGS_ONLY, ["--fail-on", "note"], 1),
        (WARNINGS_ONLY, ["--fail-on", "warning", "--min-confidence", "high"], 0),
        (LOW_ONLY, [], 0),
        (LOW_ONLY, ["--min-confidence", "low"], 1),
        (KNOWN_ONLY, ["--fail-on", "note"], 0),
        (sample.REPORT, [], 2),
        (sample.REPORT, ["--fail-on", "never"], 2),
        (OTHER_PROBLEMS, [], 0),
        (OTHER_PROBLEMS, ["--strict"], 2),
        (AuditError("no engine is recognised"), [], 2),
        (ValueError("boom"), [], 2),
        (KeyboardInterrupt(), [], 130),
    ],
)
def test_exit_status(run: Run, report: Report | BaseException, arguments: list[str], status: int) -> None:
    assert run("check", *arguments, report=report).exit_code == status


def test_an_audit_error_says_what_to_do_and_nothing_else(run: Run) -> None:
    result = run("check", report=AuditError("no engine is recognised: looked for\x1b[31m HiCache"))
    assert result.stderr == "bufgate: no engine is recognised: looked for\\x1b[31m HiCache\n"
    assert result.stdout == ""


def test_an_internal_error_asks_for_a_report(run: Run) -> None:
    result = run("check", report=ValueError("boom"))
    assert "internal error: ValueError: boom" in result.stderr
    assert "--debug" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("error", [ValueError("boom"), AuditError("no")])
def test_debug_lets_errors_through(run: Run, error: Exception) -> None:
    assert run("check", "--debug", report=error).exception is error


def test_an_incomplete_audit_says_so_unless_quiet(run: Run) -> None:
    assert "not complete" in run("check").stderr
    assert run("check", "--quiet").stderr == ""


# ---------------------------------------------------------------- usage


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["-o", "jsn"], "Did you mean 'json'? Known are: text, json, "),
        (["-o", "xlsx:x"], "Unknown format 'xlsx'"),
        (["-o", "text", "-o", "json:-"], "Only one report can go to stdout"),
        (["-o", "text:a", "-o", "json:./a"], "same file"),
        (["-o", "json:nowhere/r.json"], "the folder 'nowhere' does not exist"),
        (["-o", "json:sglang"], "it is a folder"),
        (["sglang", "--release", "sglang==0.5.23"], "exclude each other"),
        (["--jobs", "0"], "neither a number from 1 nor 'auto'"),
        (["--jobs", "many"], "neither a number from 1 nor 'auto'"),
        (["--fail-on", "fatal"], "is not one of"),
        (["--nonsense"], "No such option"),
        (["nowhere"], "does not exist"),
        (["--with", "nowhere"], "does not exist"),
    ],
)
def test_refused(run: Run, arguments: list[str], told: str) -> None:
    """Before anything is audited, with status 2."""
    calls: list[Any] = []
    result = run("check", *arguments, calls=calls)
    assert (result.exit_code, calls) == (2, [])
    assert told in result.stderr
    assert result.stdout == ""


def test_options_reach_the_spine(run: Run) -> None:
    calls: list[Any] = []
    run(
        "check", "sglang", "--jobs", "3", "--engine", "sglang", "--no-assumptions", "--no-timing", calls=calls,
    )  # fmt: skip
    options = calls[0][1]
    assert (options.jobs, options.engine) == (3, "sglang")
    assert (options.assumptions, options.timing) == (False, False)
    run("check", calls=calls)
    made = calls[1][1]
    told = {name: getattr(made, name) for name in ("progress", "remark", "detail", "today")}
    assert made == replace(fake.Options(), cache=cache_home(), **told)
    run("check", "--no-cache", calls=calls)
    assert calls[2][1].cache is None


def test_release_stands_for_paths(run: Run, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Releases are fetched for --release and --with; a path that is there is a path."""
    import auditor.source

    fetched: list[str] = []

    def fetch(requirement: str) -> Path:
        fetched.append(requirement)
        return tree / "sglang"

    monkeypatch.setattr(auditor.source, "fetch_release", fetch)
    calls: list[Any] = []
    (tree / "a==b").mkdir()
    (tree / "a==b/m.py").write_text("y = 1\n")
    result = run("check", "--release", "sglang==0.5.23", "--with", "plugin==1.0", "--with", "a==b", calls=calls)
    mark = sample.FINDINGS[1].fingerprint
    assert f"bufgate explain {mark} --release sglang==0.5.23 --with plugin==1.0 --with a==b\n" in result.stdout
    assert fetched == ["sglang==0.5.23", "plugin==1.0"]
    assert any(path.endswith("/m.py") for path in calls[0][0].files)


# ---------------------------------------------------------------- where reports go


def test_text_is_the_default_with_source_lines(run: Run) -> None:
    written = run("check").stdout
    assert written.startswith("error[bypassed-owner]")
    assert "140 | " in written


def test_several_reports_in_one_run(run: Run, tree: Path) -> None:
    result = run("check", "-o", "json:r.json", "-o", "text", "-o", "text:r.txt")
    assert json.loads((tree / "r.json").read_text())["schema"] == "report-v1"
    assert (tree / "r.txt").read_text() == result.stdout


@pytest.mark.parametrize("option", ["-o", "--output", "--output-format", "--output-format="])
def test_spellings_of_output(run: Run, option: str) -> None:
    arguments = [f"{option}json"] if option.endswith("=") else [option, "json"]
    assert json.loads(run("check", *arguments).stdout)["schema"] == "report-v1"


def test_without_stdout_the_sentence_goes_to_stderr(run: Run) -> None:
    result = run("check", "-o", "json:r.json")
    assert result.stdout == ""
    assert "in 6 sites of sglang 0.5.23" in result.stderr


def test_a_file_is_replaced_in_one_step(run: Run, tree: Path) -> None:
    """The old file stays what it was for whoever has it open; nothing is left beside the new one."""
    (tree / "r.json").write_text("old")
    (tree / "link.json").symlink_to("r.json")
    with (tree / "r.json").open() as old:
        run("check", "-o", "json:link.json")
        assert old.read() == "old"
    assert (tree / "link.json").is_symlink()
    assert json.loads((tree / "r.json").read_text())
    assert sorted(path.name for path in tree.iterdir()) == ["link.json", "r.json", "sglang"]


def test_a_failed_run_leaves_the_old_file(run: Run, tree: Path) -> None:
    (tree / "r.json").write_text("old")
    run("check", "-o", "json:r.json", report=AuditError("no"))
    assert (tree / "r.json").read_text() == "old"


def test_a_file_that_cannot_be_written_is_named(run: Run, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    result = run("check", "-o", "json:r.json")
    assert result.exit_code == 2
    assert "cannot write r.json: No space left on device" in result.stderr
    assert [path.name for path in tree.iterdir()] == ["sglang"]


def test_a_device_is_written_to(run: Run) -> None:
    assert run("check", "-o", "json:/dev/null", report=COMPLETE).exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "environment", "coloured"),
    [
        ([], {}, False),
        (["--color"], {}, True),
        ([], {"FORCE_COLOR": "1"}, True),
        ([], {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (["--no-color"], {"FORCE_COLOR": "1"}, False),
        (["--color"], {"NO_COLOR": "1"}, True),
    ],
)
def test_colours(
    run: Run, monkeypatch: pytest.MonkeyPatch, arguments: list[str], environment: dict[str, str], coloured: bool
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert ("\x1b[" in run("check", *arguments).stdout) == coloured
    assert "\x1b[" not in run("check", *arguments, "-o", "json").stdout


@pytest.mark.parametrize(("asked", "columns"), [("", 100), ("wide", 100), ("-1", 100), ("200", 200), ("20", 60)])
def test_columns_of_what_is_piped(asked: str, columns: int) -> None:
    """Those of COLUMNS, as for any tool that wraps, with room for a place; else always as many."""
    assert page_width(terminal=False, environment={"COLUMNS": asked}) == columns


def test_columns_change_no_word(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    narrow = run("check").stdout
    monkeypatch.setenv("COLUMNS", "9999")
    wide = run("check").stdout
    assert wide.count("\n") < narrow.count("\n")
    assert wide.rpartition("\n\n")[2].split() == narrow.rpartition("\n\n")[2].split(), "the footer"


# ---------------------------------------------------------------- why


@pytest.mark.parametrize(
    "place",
    [
        f"{sample.INDEXER}:91",
        f"./{sample.INDEXER}:91",
        f"{sample.INDEXER}:91:19",
        "indexer.py:91",
        "attention/indexer.py:91",
    ],
)
def test_why_answers(run: Run, place: str) -> None:
    result = run("why", place)
    assert result.exit_code == 0
    assert "Do not add another gate." in result.stdout


def test_why_takes_a_path_from_the_working_directory(run: Run, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree / "elsewhere").mkdir()
    monkeypatch.chdir(tree / "elsewhere")
    assert run("why", f"../{sample.INDEXER}:91", "..").exit_code == 0
    assert run("why", f"{tree / sample.INDEXER}:91", str(tree)).exit_code == 0


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("indexer.py:90", f"{sample.INDEXER}:91  get_index_k_with_scale_buffer (gated)"),
        ("indexr.py:91", f"Did you mean\n  {sample.INDEXER}"),
        ("other.py:1", "has no site"),
        ("indexer.py", "not FILE:LINE"),
    ],
)
def test_why_helps_when_there_is_no_site(run: Run, place: str, told: str) -> None:
    result = run("why", place)
    assert result.exit_code == 2
    assert told in result.stderr
    assert result.stdout == ""


def test_why_asks_for_more_of_a_path_that_may_be_two(run: Run) -> None:
    twin = replace(sample.SITES[0], id="twin", path="other/indexer.py")
    result = run("why", "indexer.py:91", report=replace(sample.REPORT, sites=(*sample.SITES, twin)))
    assert result.exit_code == 2
    assert "other/indexer.py" in result.stderr


# ---------------------------------------------------------------- graph, doctor


def test_graph(run: Run, tree: Path) -> None:
    whole = json.loads(run("graph").stdout)
    assert whole["m.main"] == ["m.Pool.get_key_buffer", "m.idle"]
    assert json.loads(run("graph", "--to", "get_key_buffer").stdout) == {
        "m.Pool.get_key_buffer": [],
        "m.main": ["m.Pool.get_key_buffer"],
    }
    assert run("graph", "--format", "dot", "-o", "g.dot").stdout == ""
    assert (tree / "g.dot").read_text().startswith("digraph")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--to", "get_key_bufer"], "Did you mean get_key_buffer?"),
        (["--format", "graphlm"], "Did you mean 'graphml'?"),
        (["-o", "nowhere/g.dot"], "does not exist"),
    ],
)
def test_graph_refuses(run: Run, arguments: list[str], told: str) -> None:
    result = run("graph", *arguments)
    assert result.exit_code == 2
    assert told in result.stderr


def test_doctor_tells_what_there_is(run: Run, monkeypatch: pytest.MonkeyPatch, tree: Path) -> None:
    monkeypatch.setenv("BUFGATE_CACHE", str(tree / "cache"))
    (tree / "cache/releases/sglang-0.5.23").mkdir(parents=True)
    written = run("doctor", "sglang").stdout
    for told in (__version__, "libcst ", "sglang (rules/sglang.toml): recognised: m.py holds", "vllm", "sglang-0.5.23"):
        assert told in written


def test_doctor_reports_what_is_broken_and_ends_well(run: Run) -> None:
    result = run("doctor", "nowhere")
    assert result.exit_code == 0
    assert "could not be tried: nowhere does not exist" in result.stdout
