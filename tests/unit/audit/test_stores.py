"""Which bindings of a name can be those of an attribute or of a global variable, told from the bytes before it."""

from __future__ import annotations

import pytest

from auditor.audit.questions import STORED, does


@pytest.mark.parametrize(
    "text",
    [
        "self.pool = x",
        "self.pool: Pool = x",
        "self . \\\n    pool = x",
        "a, b.pool = x",
        "self.pool, b = x",
        "pool = x",
        "if x:\n    pool = y",
        "class A:\n    pool = None",
        "class A:\n    pool: Pool",
        "class A:\n    def f(\n        self,\n    ):\n        pass\n\n    # far\n    pool: Pool = None",
        "class A:\n    if x:\n        pool = y",
        "def f():\n    class A:\n        pool = y",
        "def f():\n    global pool\n    pool = y",
        "def f():\n    return Holder(pool=x)",
        "def f():\n    return Holder(\n        a=g(1),\n        pool=x,\n    )",
        "def f():\n    return m._Holder[int](a, pool=x)",
        "def f(h):\n    return replace(h, pool=x)",
        "def f(h):\n    return kinds[h](pool=x)",
        "def f(h):\n    setattr(h, 'pool', x)",
        "class A:\n    def pool(self): ...",
    ],
)
def test_of_an_attribute_or_of_a_global_variable(text: str) -> None:
    assert does("pool", STORED, text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "self.pool == x",
        "self.pool.size = x",
        "self.pools = x",
        "def f():\n    pool = x",
        "def f():\n    if y:\n        pool: Pool = x",
        "async def f():\n    pool = x",
        "class A:\n    def f(\n        self, x\n    ) -> int:\n        pool = x",
        "def f(pool=None): ...",
        "def f(\n    a: int,\n    pool: Pool = None,\n): ...",
        "def f(\n    a: int,\n    pool: Pool,\n): ...",
        "def f():\n    return run(pool=x)",
        "def f():\n    return self.run(\n        a=g(1),\n        pool=x,\n    )",
        "class A(B):\n    def __init__(self, x):\n        super().__init__(pool=x)",
        "def f():\n    a, pool, b = x",
    ],
)
def test_of_neither(text: str) -> None:
    assert not does("pool", STORED, text.encode())


@pytest.mark.parametrize("text", [b"def f(\n" * 9, b"((((", b"))))\n    pool = 1", b"\xff\xfe pool = 1", b"    pool"])
def test_no_bytes_are_refused(text: bytes) -> None:
    assert does("pool", STORED, text) in (True, False)
