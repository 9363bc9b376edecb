"""Facts come from the cache where it has them, are equal to fresh ones, and depend on everything they are made of."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from auditor.audit.extracting import FactsOf, key
from auditor.audit.kept import kept_store
from auditor.extract import Extractor, Source, extract
from auditor.facts import encode
from tests.e2e.process import ENGINE

SOURCES = [
    Source("a.py", "a", False, b"x = 1\n"),
    Source("b.py", "b", False, b"def f(:\n"),
    Source("c/__init__.py", "c", True, b"class A:\n    def f(self): return self.k_buffer[0]\n"),
]


class Counting:
    """Extracts, and remembers what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, sources: Sequence[Source]) -> Iterable[bytes]:
        self.asked += [one.path for one in sources]
        return (encode(extract(*one)) for one in sources)


def run(folder: Path | None, sources: Sequence[Source] = SOURCES) -> tuple[list[str], list[str]]:
    """What was extracted, and the remarks; the facts are those of the sources."""
    extractor = Counting()
    remarks: list[str] = []
    with kept_store(folder, remarks.append) as store:
        assert list(FactsOf(extractor, store)(sources)) == [extract(*one) for one in sources]
    return extractor.asked, remarks


def test_the_second_run_extracts_nothing(tmp_path):
    assert run(tmp_path) == (["a.py", "b.py", "c/__init__.py"], [])
    assert run(tmp_path) == ([], [])


def test_only_what_has_changed_is_extracted_again(tmp_path):
    run(tmp_path)
    changed = [SOURCES[0], SOURCES[1]._replace(content=b"def f(): pass\n"), SOURCES[2]]
    assert run(tmp_path, changed) == (["b.py"], [])
    assert run(tmp_path) == ([], []), "both versions are kept: base and head share the cache"


def test_without_a_folder_everything_is_extracted_each_time():
    assert run(None) == run(None) == (["a.py", "b.py", "c/__init__.py"], [])


def test_bytes_that_are_no_facts_are_a_miss(tmp_path):
    with kept_store(tmp_path, pytest.fail) as store:
        store.keep({key(one): b"[0]" for one in SOURCES})
    assert run(tmp_path) == (["a.py", "b.py", "c/__init__.py"], [])


def test_a_broken_cache_is_told_and_changes_nothing(tmp_path):
    (tmp_path / "facts.sqlite3").write_bytes(b"no database" * 100)
    asked, (remark,) = run(tmp_path)
    assert asked == ["a.py", "b.py", "c/__init__.py"]
    assert "facts.sqlite3 is not used" in remark


def test_a_key_depends_on_content_place_and_kind():
    one = SOURCES[0]
    others = [one._replace(path="b.py"), one._replace(module="b"), one._replace(is_package=True)]
    others += [one._replace(content=b"x = 2\n"), one._replace(path="a.pya", module="")]
    assert len({key(other) for other in [one, *others]}) == 6


def test_a_name_that_is_not_unicode_has_a_key():
    assert key(SOURCES[0]._replace(path="a\udcff.py")) != key(SOURCES[0])


def test_a_warm_run_never_imports_the_parser(tmp_path, subprocess_check):
    cold = subprocess_check(tmp_path)
    warm = subprocess_check(tmp_path)
    assert (cold.libcst, warm.libcst) == (True, False)
    assert cold.report == warm.report


@dataclasses.dataclass
class _Ran:
    libcst: bool
    report: str


@pytest.fixture
def subprocess_check():
    import subprocess

    program = (
        "import sys; from auditor.interfaces.cli import main; main(sys.argv[1:], standalone_mode=False);"
        "print('libcst' in sys.modules)"
    )

    def run(cache: Path) -> _Ran:
        arguments = ["check", str(ENGINE), "--no-timing", "--jobs", "1", "-q", "-o", f"json:{cache / 'r.json'}"]
        done = subprocess.run(
            [sys.executable, "-c", program, *arguments],
            env={"BUFGATE_CACHE": str(cache), "PATH": ""},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout.endswith(("True\n", "False\n")), done.stderr
        return _Ran(done.stdout.endswith("True\n"), (cache / "r.json").read_text())

    return run


def test_workers_and_one_process_give_the_same_bytes():
    padding = b"#" * 200_000 + b"\n"
    sources = [one._replace(content=padding + one.content) for one in SOURCES]
    with Extractor(1) as single, Extractor(2) as double:
        assert list(single(sources)) == list(double(sources))
