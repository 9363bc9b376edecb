"""Modules of a tree run for real where they are in the focus; all else is a stub with a reason."""

import importlib
import sys
from typing import Any, ClassVar

import pytest

from cuda_probe.loading import Stub, TreeImporter, imported_tree, kernel_calls

TREE = {
    "eng/__init__.py": "raise RuntimeError('the package above the focus is not executed')",
    "eng/pool.py": """
        import nowhere_installed.kernels as kernels
        from eng.config import Config
        from eng.broken import thing
        from nowhere_installed import jit, Base, LIMIT, decorate
        import dataclasses
        import json

        @jit
        def kernel(x): raise RuntimeError('a kernel of the device')

        class Spec(Base, frozen=True):
            size: int
            page: int = 2
            _hidden: int = 0

        @dataclasses.dataclass
        class Data(Base):
            size: int
            pages: list = dataclasses.field(default_factory=list)

        @decorate
        class Pool(Base):
            size = LIMIT or 7
            def read(self, buffer):
                kernel[(1,)](buffer, 1)
                return kernels.gather(buffer)
        """,
    "eng/broken.py": "thing = 1\nimport os\nos.nothing_there",
    "eng/config.py": "raise RuntimeError('outside the focus')",
    "eng/inner/__init__.py": "VALUE = 3",
}


@pytest.fixture
def importer(tmp_path):
    import textwrap

    for name, text in TREE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(textwrap.dedent(text))
    return TreeImporter(tmp_path, "eng", ("eng.pool", "eng.broken", "eng.inner"))


def test_the_focus_is_executed_and_the_rest_is_told(importer):
    """Every stub has its reason: outside, not installed, failed."""
    with imported_tree(importer):
        pool = importlib.import_module("eng.pool").Pool()
        assert pool.size == 7
        assert importlib.import_module("eng.inner").VALUE == 3
        with pytest.raises(ImportError):
            importlib.import_module("nowhere_installed_either")  # asked by us, not by the tree
    assert sorted(importer.real) == ["eng.inner", "eng.pool"]
    assert importer.stubbed == {
        "eng": "its __init__ is not executed",
        "nowhere_installed": "not installed",
        "nowhere_installed.kernels": "not installed",
        "eng.config": "outside the focus",
        "eng.broken": "AttributeError: module 'os' has no attribute 'nothing_there'",
    }


def test_kernels_are_told(importer):
    """Compiled kernels and functions of stubbed modules, with what they were given."""
    calls = []
    with imported_tree(importer), kernel_calls(lambda name, args, kwargs: calls.append((name, args))):
        importlib.import_module("eng.pool").Pool().read("buffer")
    assert calls == [("kernel", ("buffer", 1)), ("nowhere_installed.kernels.gather", ("buffer",))]


def test_what_is_left_out_is_a_stub_though_it_is_installed(importer):
    """So that the answer does not depend on what is installed."""
    importer.absent = ("json",)
    with imported_tree(importer):
        assert importlib.import_module("eng.pool").json.loads("[1]") == [1], "the standard library stays"
    importer.absent = ("iniconfig",)
    (importer.root / "eng/inner/__init__.py").write_text("import iniconfig\nVALUE = iniconfig.IniConfig")
    with imported_tree(importer):
        assert isinstance(importlib.import_module("eng.inner").VALUE, Stub)


def test_the_tree_is_forgotten_afterwards(importer):
    """So that another release can be imported in its place."""
    with imported_tree(importer):
        importlib.import_module("eng.pool")
    assert not [name for name in sys.modules if name.startswith(("eng", "nowhere_installed"))]
    assert importer not in sys.meta_path
    assert not list(importer.root.rglob("__pycache__")), "the probed tree is not written to"


def test_a_stub_is_false_empty_and_zero():
    """Code that asks a stub takes the branch of what is not there."""
    stub = Stub("x")
    assert not stub
    assert list(stub.a.b) == []
    assert (int(stub), float(stub), len(stub), 1 in stub) == (0, 0.0, 0, False)
    assert not stub > 1
    with stub as entered:
        assert entered is stub
    assert repr(stub.a.b()) == "<stub x.a.b()>"
    with pytest.raises(AttributeError):
        _ = stub.__wrapped__


def test_a_structure_has_the_fields_that_it_inherits_and_is_finished():
    """Its own defaults count, what belongs to the class is no field, and a class may name two bases that are stubs."""
    struct: Any = Stub("msgspec.Struct")
    other: Any = Stub("msgspec.Other")

    class Host(struct, other, frozen=True):  # type: ignore[misc, call-arg]
        kinds: ClassVar[int] = 1
        name: str
        lanes: int = 2

    class Dense(Host):
        lanes = 3

        def __post_init__(self):
            assert self.name, "no name"

    assert vars(Dense("full")) == {"name": "full", "lanes": 3}
    with pytest.raises(AssertionError, match="no name"):
        Dense("")


def test_a_structure_whose_base_is_not_there_takes_its_fields(importer):
    """As dataclasses and structs do: by position or by name, with defaults; a missing one is an error."""
    with imported_tree(importer):
        spec = importlib.import_module("eng.pool").Spec
        assert vars(spec(4)) == {"size": 4, "page": 2}
        assert vars(spec(page=8, size=1)) == {"size": 1, "page": 8}
        with pytest.raises(TypeError, match="missing a required argument: 'size'"):
            spec()
        assert vars(importlib.import_module("eng.pool").Data(3)) == {"size": 3, "pages": []}
