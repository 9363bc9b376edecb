"""The importer: which modules of a tree are executed, and what the others are replaced by."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from cuda_probe.loading.stubs import StubModule


class TreeImporter(MetaPathFinder):
    """Imports ``package`` from ``root``. ``real`` and ``stubbed`` (with reasons) grow as modules are imported.

    Packages above the focus get their real path, but their ``__init__`` is not executed. A module of the focus that
    fails becomes a stub, with the error as its reason. A package that is not installed is a stub for modules of the
    tree only: libraries that try an optional import have to see it fail.
    """

    def __init__(self, root: Path, package: str, focus: Sequence[str], absent: Sequence[str] = ()):
        self.root, self.package, self.focus, self.absent = root, package, tuple(focus), tuple(absent)
        self.real: list[str] = []
        self.stubbed: dict[str, str] = {}
        self._asking: set[str] = set()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Find a module of the tree, or a stub for one that is not there."""
        top = name.partition(".")[0]
        if name in self._asking:
            return None
        if top == self.package:
            return self._in_tree(name)
        if top in sys.stdlib_module_names or not self._asked_by_tree():
            return None
        if top in self.absent:
            return self._stub(name, "left out")
        return None if self._installed(name) else self._stub(name, "not installed")

    def _in_tree(self, name: str) -> ModuleSpec:
        place = self.root.joinpath(*name.split("."))
        inside = any(name == one or name.startswith(f"{one}.") for one in self.focus)
        above = any(one.startswith(f"{name}.") for one in self.focus)
        if not inside and not above:
            return self._stub(name, "outside the focus")
        if place.is_dir():
            init = place / "__init__.py"
            if inside and init.is_file():
                return self._source(name, init, [str(place)])
            spec = self._stub(name, "its __init__ is not executed" if above else "no __init__")
            spec.submodule_search_locations = [str(place)]
            return spec
        file = place.with_name(f"{place.name}.py")
        return self._source(name, file, None) if file.is_file() else self._stub(name, "not in the tree")

    def _source(self, name: str, file: Path, search: list[str] | None) -> ModuleSpec:
        loader = _SourceLoader(name, str(file), self)
        spec = importlib.util.spec_from_file_location(name, file, loader=loader, submodule_search_locations=search)
        assert spec is not None
        return spec

    def _stub(self, name: str, why: str) -> ModuleSpec:
        self.stubbed[name] = why
        return ModuleSpec(name, _StubLoader(), is_package=True)

    def _installed(self, name: str) -> bool:
        self._asking.add(name)
        try:
            return importlib.util.find_spec(name) is not None
        except (ImportError, ValueError, AttributeError):  # a parent that is no package, or a stub
            return False
        finally:
            self._asking.discard(name)

    def _asked_by_tree(self) -> bool:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            name = str(frame.f_globals.get("__name__", ""))
            if not name.startswith("importlib") and name != __name__:
                return name.partition(".")[0] == self.package
            frame = frame.f_back
        return False


class _StubLoader(Loader):
    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return StubModule(spec.name)

    def exec_module(self, module: ModuleType) -> None: ...


class _SourceLoader(SourceFileLoader):
    def __init__(self, name: str, file: str, importer: TreeImporter):
        super().__init__(name, file)
        self._importer = importer

    def exec_module(self, module: ModuleType) -> None:
        """Execute a module; what goes wrong in code that was never meant to run here is data: the reason of a stub."""
        try:
            super().exec_module(module)
        except Exception as error:  # noqa: BLE001 -- any code may raise anything
            self._importer.stubbed[module.__name__] = f"{type(error).__name__}: {error}"[:200]
            for name in [name for name in vars(module) if not name.startswith("__")]:
                delattr(module, name)
            module.__class__ = StubModule
        else:
            self._importer.real.append(module.__name__)

    def set_data(self, path: Any, data: Any, *, _mode: int = 0o666) -> None:
        """Write no bytecode into the probed tree."""


@contextmanager
def imported_tree(importer: TreeImporter) -> Iterator[TreeImporter]:
    """Import from a tree for a while; its modules and stubs are forgotten afterwards."""
    hidden = {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] in importer.absent}
    before = set(sys.modules)
    sys.meta_path.insert(0, importer)
    try:
        yield importer
    finally:
        sys.meta_path.remove(importer)
        ours = (importer.package, *importer.stubbed)
        for name in [name for name in sys.modules if name not in before and name.startswith(ours)]:
            del sys.modules[name]
        sys.modules.update(hidden)
