"""``bufgate history``: accessors over trees."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.e2e.process import Done, run
from tests.e2e.repository import WAIT, Repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Three commits: all is well, the router forgets to wait, the engine is not there."""
    repository = Repository(tmp_path / "repo")
    repository.edit("router.py", WAIT, "")
    repository.commit("Wait no more")
    repository.git("rm", "-rq", "engine")
    repository.write("setup.py", "x = 1\n")
    repository.commit("Nothing is left")
    return repository


def history(repository: Repository, *arguments: str, jobs: str = "1") -> Done:
    return run("history", *arguments, "--jobs", jobs, "--quiet", cwd=repository.top)


def test_a_row_an_accessor_and_a_sign_a_tree(repository):
    done = history(repository, "HEAD~2", "HEAD~1", "HEAD")
    assert done.exit == 0
    lines = done.stdout.split("\n")
    assert lines[0].split() == ["1", "2", "3"]
    assert lines[1].startswith("The verdict changes (")
    rows = {line.split()[0]: line.split()[1:] for line in lines[1 : lines.index("")]}
    assert rows["RouterPool.get_key_buffer"] == ["+", "!"]
    assert rows["RouterPool.get_mla_kv_buffer"] == ["!", "!"]
    assert "3  HEAD: no engine is recognised in" in done.stdout
    assert "! ungated" in lines[-2]


def test_json(repository):
    made = json.loads(history(repository, "HEAD~2", "HEAD~1", "HEAD", "--format", "json").stdout)
    assert made["schema"] == "history-v1"
    assert [column["name"] for column in made["columns"]] == ["HEAD~2", "HEAD~1", "HEAD"]
    rows = {row["accessor"]: row["verdicts"] for row in made["rows"]}
    assert rows["RouterPool.get_key_buffer"] == ["gated", "ungated", None]
    assert all(len(verdicts) == 3 for verdicts in rows.values())


class Page(HTMLParser):
    """Cells of the table, row by row; what loads something from elsewhere."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.loads: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.loads += [str(value) for name, value in attrs if name in ("src", "href")]
        self.loads += [tag] if tag in ("script", "link") else []
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.open.pop()

    def handle_data(self, data):
        if self.open:
            self.rows[-1][-1] += data


def test_html_is_a_page_of_its_own(repository):
    done = history(repository, "HEAD~2", "HEAD~1", "HEAD", "--format", "html", "-o", "h.html")
    assert (done.exit, done.stdout) == (0, "")
    page = Page((repository.top / "h.html").read_text())
    assert page.loads == []
    assert page.rows[0] == ["accessor", "HEAD~2", "HEAD~1", "HEAD"]
    rows = {row[0]: row[1:] for row in page.rows[1:]}
    assert rows["RouterPool.get_key_buffer"] == ["+gated", "!ungated", ""]
    (changes, *_) = page.rows[1]
    number = int(changes.removeprefix("The verdict changes (").removesuffix(")"))
    cells = [{cell for cell in row[1:] if cell} for row in page.rows[2:]]
    assert all(len(row) > 1 for row in cells[:number])
    assert all(len(row) <= 1 for row in cells[number:])


def test_what_came_from_the_tree_is_escaped(repository):
    repository.git("checkout", "-q", "HEAD~2")
    repository.git("branch", "<script>alert(1)</script>")
    done = history(repository, "<script>alert(1)</script>", "--format", "html")
    assert "<script>" not in done.stdout
    assert "&lt;script&gt;" in done.stdout


def test_several_at_a_time_say_the_same(repository):
    trees = ("HEAD~2", "HEAD~1", "HEAD")
    assert history(repository, *trees, jobs="3") == history(repository, *trees)


def test_nothing_to_show(repository):
    done = history(repository, "HEAD")
    assert (done.exit, done.stdout) == (2, "")
    assert re.search("HEAD: no engine is recognised", done.stderr)


def test_a_tree_is_wanted(repository):
    assert history(repository).exit == 2
