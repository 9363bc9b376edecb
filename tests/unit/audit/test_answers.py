"""An answer that was kept is that of a fresh run, byte for byte; and it is found where it can be."""

from __future__ import annotations

import dataclasses
import datetime
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from auditor.audit import NothingToAudit, Options, answers, audit, spine
from auditor.render import FORMATS, Page
from auditor.source import open_tree
from tests.e2e.process import ENGINE

LINES = (
    "import math",
    "x = 1",
    "# nothing",
    "from .pools import LayerPool as Renamed",
    "pool.wait_layer_transfer(layer_id)",
    "def f(pool): return pool.get_key_buffer(0)",
    "kv_pool = object()",
    "k_buffer = None",
    "Thing = Renamed",
    "class Other: k_buffer = 1",
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The miniature engine, and files beside it that no audit reads."""
    root = tmp_path / "tree"
    shutil.copytree(ENGINE, root, ignore=shutil.ignore_patterns("__pycache__"))
    for number in range(3):
        (root / "minikv" / f"aside{number}.py").write_text("def nobody(a):\n    return a\n")
    return root


@pytest.fixture
def audits(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The roots of all fresh audits."""
    made: list[Path] = []
    fresh = spine.fresh

    def counted(tree, *rest):
        made.append(tree.root)
        return fresh(tree, *rest)

    monkeypatch.setattr(spine, "fresh", counted)
    return made


def answer(root: Path, cache: Path | None, **options) -> str:
    made = Options(jobs=1, timing=False, cache=cache, **options)
    try:
        return FORMATS["json"](audit(open_tree([root]), made), Page())
    except NothingToAudit as error:
        return str(error)


# ---------------------------------------------------------------- the same bytes


@pytest.mark.parametrize("seed", range(3))
def test_after_any_edits_the_answer_is_that_of_a_fresh_run(tree, tmp_path, audits, seed):
    """Random lines are put into, moved and taken out of random files; each tree is asked with the cache and without."""
    choice = random.Random(seed)
    hits = 0
    for _ in range(8):
        edit(tree, choice)
        before = len(audits)
        kept = answer(tree, tmp_path / "cache")
        hits += len(audits) == before
        assert kept == answer(tree, None)
        assert answer(tree, tmp_path / "cache") == kept
    assert 0 < hits < 8, "both ways were taken"


def edit(root: Path, choice: random.Random) -> None:
    files = sorted(root.rglob("*.py"))
    aside = [file for file in files if file.name.startswith("aside")]
    file = choice.choice(choice.choice((files, aside, aside)))
    lines = file.read_text().splitlines()
    at = choice.randrange(len(lines) + 1)
    match choice.randrange(4):
        case 0 if lines:
            del lines[at - 1]
        case 1:
            lines.insert(at, choice.choice(choice.choice(files).read_text().splitlines() or [""]))
        case _:
            indent = lines[at - 1][: len(lines[at - 1]) - len(lines[at - 1].lstrip())] if lines and at else ""
            lines.insert(at, indent + choice.choice(LINES))
    file.write_text("\n".join(lines) + "\n")


def test_a_change_there_and_back_is_answered_from_what_was_kept(tree, tmp_path, audits):
    """Base and head, and branches that somebody goes to and fro between, are kept side by side."""
    pools = tree / "minikv" / "pools.py"
    text = pools.read_text()
    first = answer(tree, tmp_path / "cache")
    pools.write_text(text + "\nclass New(LayerPool):\n    pass\n")
    second = answer(tree, tmp_path / "cache")
    pools.write_text(text)
    assert answer(tree, tmp_path / "cache") == first
    pools.write_text(text + "\nclass New(LayerPool):\n    pass\n")
    assert answer(tree, tmp_path / "cache") == second
    assert len(audits) == 2


def test_the_same_tree_elsewhere_has_the_same_answer(tree, tmp_path, audits):
    moved = tmp_path / "elsewhere" / "tree"
    shutil.copytree(tree, moved)
    first, second = (audit(open_tree([root]), Options(jobs=1, cache=tmp_path / "cache")) for root in (tree, moved))
    assert second.root == str(moved)
    assert dataclasses.replace(second, root=first.root, stats=first.stats) == first
    assert len(audits) == 1


def test_as_many_answers_as_there_are_slots_are_kept_side_by_side(tree, tmp_path, audits):
    pools = tree / "minikv" / "pools.py"
    text = pools.read_text()
    versions = [text + f"\n# {number}\n" for number in range(answers._SLOTS)]
    for version in versions + versions:
        pools.write_text(version)
        answer(tree, tmp_path / "cache")
    assert len(audits) == len(versions)


# ---------------------------------------------------------------- what an answer rests on


def change_nothing(tree: Path) -> None:
    pass


def touch_all(tree: Path) -> None:
    for file in tree.rglob("*.py"):
        file.write_bytes(file.read_bytes())


def change_aside(tree: Path) -> None:
    (tree / "minikv" / "aside1.py").write_text("def somebody(b):\n    return b * 2\n")


@pytest.mark.parametrize("change", [change_nothing, touch_all, change_aside])
def test_no_audit_where_nothing_counts_that_has_changed(tree, tmp_path, audits, change):
    answer(tree, tmp_path / "cache")
    change(tree)
    answer(tree, tmp_path / "cache")
    assert len(audits) == 1


def change_pool(tree: Path) -> None:
    with (tree / "minikv" / "pools.py").open("a") as stream:
        stream.write("\n# a comment\n")


def mention_pool(tree: Path) -> None:
    (tree / "minikv" / "aside1.py").write_text("def f(pool):\n    return pool.get_key_buffer(0)\n")


def suppress_here(tree: Path) -> None:
    (tree / "minikv" / "aside1.py").write_text("x = 1  # bufgate: ignore[ungated-access] -- tried\n")


def add_file(tree: Path) -> None:
    (tree / "minikv" / "more.py").write_text("")


def remove_file(tree: Path) -> None:
    (tree / "minikv" / "aside1.py").unlink()


def change_root(tree: Path) -> None:
    (tree / "__init__.py").write_text("")


def cannot_decode(tree: Path) -> None:
    (tree / "minikv" / "aside1.py").unlink()
    (tree / "minikv" / "aside1.py").symlink_to(tree / "nowhere.py")


@pytest.mark.parametrize(
    "change", [change_pool, mention_pool, suppress_here, add_file, remove_file, change_root, cannot_decode]
)
def test_a_fresh_audit_where_something_counts(tree, tmp_path, audits, change):
    answer(tree, tmp_path / "cache")
    change(tree)
    assert answer(tree, tmp_path / "cache") == answer(tree, None)
    assert len(audits) == 3


@pytest.mark.parametrize("other", [{"assumptions": False}, {"engine": "sglang"}])
def test_other_options_are_another_question(tree, tmp_path, audits, other):
    answer(tree, tmp_path / "cache")
    assert answer(tree, tmp_path / "cache", **other) == answer(tree, None, **other)
    assert len(audits) == 3


def test_a_pack_that_has_changed_is_another_question(tree, tmp_path, audits):
    pack = tmp_path / "mine.toml"
    text = min((ENGINE.parents[1] / "rules").glob("*.toml")).read_text()
    for written in (text, text + "\n# changed\n"):
        pack.write_text(written)
        answer(tree, tmp_path / "cache", rules=(pack,))
    assert len(audits) == 2


def test_a_suppression_that_ends_is_asked_each_day(tree, tmp_path, audits):
    (tree / "minikv" / "aside1.py").write_text("x = 1  # bufgate: ignore[ungated-access] until=2030-01-02 -- tried\n")
    days = [datetime.date(2030, 1, day) for day in (1, 1, 2, 3)]
    for day in days:
        assert answer(tree, tmp_path / "cache", today=day) == answer(tree, None, today=day)
    assert len(audits) == len(days) + 3


def test_days_do_not_count_without_one(tree, tmp_path, audits):
    for day in (1, 2):
        answer(tree, tmp_path / "cache", today=datetime.date(2030, 1, day))
    assert len(audits) == 1


# ---------------------------------------------------------------- what is no answer


def damage_rows(store: Path) -> None:
    connection = sqlite3.connect(store)
    connection.execute("UPDATE content SET value = substr(value, 1, length(value) / 2)")
    connection.commit()
    connection.close()


def other_rows(store: Path) -> None:
    import zlib

    connection = sqlite3.connect(store)
    for text in (b"[]", b"{}", b"no json", b"[[9]]"):
        connection.execute("UPDATE content SET value = ? WHERE abs(random()) % 2", (zlib.compress(text),))
    connection.execute("UPDATE content SET value = ? WHERE length(value) > 100", (zlib.compress(b"[1, 2]"),))
    connection.commit()
    connection.close()


def other_tables(store: Path) -> None:
    connection = sqlite3.connect(store)
    connection.executescript("DROP TABLE content; CREATE TABLE content (other TEXT)")
    connection.close()


def no_database(store: Path) -> None:
    store.write_bytes(b"something else" * 1000)


@pytest.mark.parametrize("damage", [damage_rows, other_rows, other_tables, no_database])
def test_what_is_damaged_or_foreign_is_a_miss(tree, tmp_path, audits, damage):
    first = answer(tree, tmp_path / "cache")
    damage(tmp_path / "cache" / "facts.sqlite3")
    assert answer(tree, tmp_path / "cache") == first
    assert len(audits) == 2


def test_what_another_process_has_locked_is_read_all_the_same(tree, tmp_path, audits, monkeypatch):
    """Stamps cannot be kept then; the answer, which is asked for after them, is found."""
    first = answer(tree, tmp_path / "cache")
    monkeypatch.setattr("auditor.source.stamps.SETTLED", -(10**15))
    connection = sqlite3.connect(tmp_path / "cache" / "facts.sqlite3", isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    assert answer(tree, tmp_path / "cache") == first
    connection.close()
    assert len(audits) == 1


# ---------------------------------------------------------------- start-up


@pytest.fixture
def loaded(tmp_path: Path) -> Callable[..., set[str]]:
    """Run the command in a process and tell which modules it loaded."""
    program = (
        "import sys; from auditor.interfaces.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "finally: print(*sorted(sys.modules), file=sys.stderr)"
    )

    def run(*arguments: str | Path) -> set[str]:
        done = subprocess.run(
            [sys.executable, "-c", program, *map(str, arguments)],
            env={"BUFGATE_CACHE": str(tmp_path / "cache"), "PATH": ""},
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stderr
        return set(done.stderr.split())

    return run


@pytest.mark.parametrize("arguments", [("check",), ("check", "-o", "json"), ("why", "forward.py:1")])
def test_an_answer_loads_neither_parser_nor_rooms(tree, loaded, arguments):
    verb, *rest = arguments
    rooms = {f"auditor.{room}" for room in ("extract", "facts", "link", "callgraph", "gating", "checks", "dataflow")}
    slow = {"libcst", "networkx", "jinja2", *rooms}
    assert rooms <= loaded("check", tree, "-q", "--jobs", "1")
    where = (*rest, tree) if verb == "why" else (tree, *rest)
    assert not slow & loaded(verb, *where, "-q")
