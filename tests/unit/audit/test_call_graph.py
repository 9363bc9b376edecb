"""`graph` names modules from where the programs of a folder are started."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor.audit import Options, call_graph
from auditor.source import open_tree


@pytest.fixture
def graph(tmp_path):
    """Give the call graph of the folder ``app`` with these files."""

    def of(files: dict[str, str]):
        for name, text in files.items():
            path = tmp_path / "app" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return call_graph(open_tree([Path(tmp_path / "app")]), Options(jobs=1))

    return of


def test_a_package_that_imports_itself_by_name(graph):
    files = {"__init__.py": "", "main.py": "from app.inner import f\nf()", "inner.py": "def f(): pass"}
    assert graph(files)["app.main"] == ("app.inner.f",)


def test_a_package_whose_programs_start_inside(graph):
    files = {
        "__init__.py": "",
        "main.py": "from inner.one import f\nf()",
        "inner/__init__.py": "",
        "inner/one.py": "from .two import g\ndef f(): g()",
        "inner/two.py": "def g(): pass",
    }
    found = graph(files)
    assert found["main"] == ("inner.one.f",)
    assert found["inner.one.f"] == ("inner.two.g",)


def test_a_module_named_like_one_of_the_standard_library_tells_nothing(graph):
    files = {"__init__.py": "", "main.py": "import logging\ndef f(): pass", "logging.py": ""}
    assert "app.main.f" in graph(files)


def test_a_folder_of_modules_is_a_namespace(graph):
    files = {"main.py": "from nest import one\none.f()", "nest/one.py": "def f(): pass"}
    assert graph(files)["main"] == ("nest.one.f",)
