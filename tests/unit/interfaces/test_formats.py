"""``-o FORMAT:FILE``: every format from the command line, and where its paths start."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from auditor.interfaces.cli import main
from auditor.render import FORMATS
from tests.unit.interfaces import fake
from tests.unit.render import sample
from tests.unit.render.test_formats import MARKED

REPORT = replace(sample.REPORT, findings=MARKED)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with its packages in a folder; the working directory is its top."""
    file = tmp_path / "python" / sample.INDEXER
    file.parent.mkdir(parents=True)
    file.write_text("\n".join(sample.lines(sample.INDEXER)) + "\n", encoding="utf-8")
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, fake.NAME, fake.spine(REPORT))
    return tmp_path


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(main, ["check", *arguments])
    assert result.exit_code == 2, result.output  # the sample has a relevant problem
    return result


def test_all_formats_in_one_run(tree: Path) -> None:
    """Each file has every fingerprint; one report goes to stdout."""
    names = [name for name in FORMATS if name not in ("text", "json")]
    result = run("python", *(part for name in names for part in ("-o", f"{name}:report.{name}")), "-o", "json:-")
    assert [one["fingerprint"] for one in json.loads(result.stdout)["findings"]] == [one.fingerprint for one in MARKED]
    for name in names:
        written = (tree / f"report.{name}").read_text(encoding="utf-8")
        assert all(one.fingerprint in written for one in MARKED), name
    assert sorted(file.name for file in tree.glob("report.*")) == sorted(f"report.{name}" for name in names)


@pytest.mark.parametrize("where", [".", "python"])
def test_hosts_get_paths_from_the_top_of_the_repository(
    tree: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Wherever the command runs, and whatever part of the repository is audited."""
    monkeypatch.chdir(tree / where)
    audited = str(tree / "python")
    places = [one["location"]["path"] for one in json.loads(run(audited, "-o", "gitlab").stdout)]
    assert set(places) == {f"python/{sample.INDEXER}"}
    assert f"::error file=python/{sample.INDEXER},line=140" in run(audited, "-o", "github").stdout


def test_without_a_repository_paths_start_at_the_working_folder(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree / ".git").rmdir()
    assert json.loads(run("python", "-o", "gitlab").stdout)[0]["location"]["path"] == f"python/{sample.INDEXER}"
    monkeypatch.chdir(tree / "python" / "sglang")
    assert json.loads(run("..", "-o", "gitlab").stdout)[0]["location"]["path"] == sample.INDEXER


def test_the_page_shows_the_source(tree: Path) -> None:
    assert "keys = forward_batch.token_to_kv_pool.indexer_pool" in run("python", "-o", "html").stdout


@pytest.mark.parametrize(
    ("where", "below"), [(".", "python/"), ("python", ""), ("python/sglang", "../"), ("elsewhere", "")]
)
def test_people_get_paths_that_lead_from_where_they_stand(
    tree: Path, monkeypatch: pytest.MonkeyPatch, where: str, below: str
) -> None:
    """A terminal makes them links. Where neither folder is in the other they are those of the audited root."""
    (tree / where).mkdir(exist_ok=True)
    monkeypatch.chdir(tree / where)
    told = run(str(tree / "python"), "-o", "text", "-o", f"json:{tree}/r.json").stdout
    assert f"--> {below}{sample.INDEXER}:140:10" in told
    assert f"└─ {below}{sample.INDEXER}:140  " in told
    assert f"before {below}{sample.INDEXER}:140, as" in told
    report = json.loads((tree / "r.json").read_text(encoding="utf-8"))
    assert {one["path"] for one in report["findings"]} >= {sample.INDEXER}, "a format for programs keeps its paths"
