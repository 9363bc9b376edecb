# ruff: noqa: E501  # a program a line reads better than a program torn apart
"""Names across modules: what an import means."""

from __future__ import annotations

import pytest

from tests.unit.link.programs import link, probe

POOLS = "class APool:\n    def get_k(self): return self\n"

IMPORTS = {
    "from": {"pools": POOLS, "use": "from pools import APool\nprobe(APool())"},
    "module": {"pools": POOLS, "use": "import pools\nprobe(pools.APool())"},
    "alias": {"pools": POOLS, "use": "import pools as p\nfrom pools import APool as A\nprobe(p.APool(), A())"},
    "package": {"pkg.__init__": "", "pkg.pools": POOLS, "use": "import pkg.pools\nprobe(pkg.pools.APool())"},
    "submodule": {"pkg.__init__": "", "pkg.pools": POOLS, "use": "from pkg import pools\nprobe(pools.APool())"},
    "namespace package": {"pkg.pools": POOLS, "use": "from pkg.pools import APool\nprobe(APool())"},
    "relative": {"pkg.__init__": "", "pkg.pools": POOLS, "pkg.use": "from .pools import APool\nprobe(APool())"},
    "re-export": {
        "pkg.__init__": "from .pools import APool",
        "pkg.pools": POOLS,
        "use": "from pkg import APool\nprobe(APool())",
    },
    "made by the module": {
        "pools": POOLS,
        "lazy": "def __getattr__(name):\n    if name == 'APool':\n        from pools import APool\n        return APool\n    raise AttributeError(name)",
        "use": "import lazy\nprobe(lazy.APool())",
    },
    "handed on by the module": {
        "pools": POOLS,
        "lazy": "import pools\ndef __getattr__(name):\n    return getattr(pools, name)",
        "use": "from lazy import APool\nprobe(APool())",
    },
    "star": {"pools": POOLS, "use": "from pools import *\nprobe(APool())"},
    "star of a star": {"a": POOLS, "b": "from a import *", "use": "from b import APool\nprobe(APool())"},
    "in a function": {"pools": POOLS, "use": "def f():\n    from pools import APool\n    probe(APool())"},
    "conditional": {
        "pools": POOLS,
        "use": "try:\n    import vendor\n    from pools import APool\nexcept ImportError:\n    APool = None\nprobe(APool())",
    },
    "type checking": {
        "pools": POOLS,
        "use": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from pools import APool\ndef f(p: 'APool'):\n    probe(p)",
        "make": "from pools import APool\nfrom use import f\nf(APool())",
    },
    "module global": {
        "pools": POOLS,
        "state": "import pools\npool = pools.APool()",
        "use": "import state\nprobe(state.pool)",
    },
    "module global stored from outside": {
        "pools": POOLS,
        "state": "pool = None",
        "set": "import state\nfrom pools import APool\nstate.pool = APool()",
        "use": "from state import pool\nprobe(pool)",
    },
    "cyclic": {"a": "import b\n" + POOLS, "b": "import a\ndef f():\n    probe(a.APool())"},
}


@pytest.mark.parametrize("kind", IMPORTS)
def test_import(kind: str) -> None:
    assert probe(link(IMPORTS[kind])) == {"APool"}


def test_a_base_class_of_another_module() -> None:
    linker = link({"pools": POOLS, "use": "import pools\nclass BPool(pools.APool): pass\nprobe(BPool().get_k())"})
    assert linker.hierarchy.mro("use.BPool") == ("use.BPool", "pools.APool")
    assert probe(linker) == {"BPool"}


def test_a_module_that_is_read_later_completes_the_answer() -> None:
    from tests.unit.link.programs import facts

    linker = link({"use": "from pools import APool\nprobe(APool())"})
    assert probe(linker) in ({"APool"}, set(), {"outside pools.APool"})
    linker = link({"use": "def f(p):\n    probe(p)", "pools": POOLS})
    linker.scopes.existing["make"] = "make.py"  # type: ignore[index]
    linker.add([facts("make", "from pools import APool\nfrom use import f\nf(APool())")])
    linker.graph.solve()
    assert probe(linker) == {"APool"}
