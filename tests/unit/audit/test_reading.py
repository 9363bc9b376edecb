"""Which files are read first: those in which a word of the pack is what the pack says, told from the bytes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from auditor.audit.extracting import FactsOf
from auditor.audit.reading import Reader
from auditor.extract import Extractor
from auditor.source import open_tree
from auditor.spec import load_pack
from auditor.store import Store

EXAMPLE = load_pack(Path(__file__).parents[1] / "spec" / "example.toml")
PACK = replace(EXAMPLE, connectors=replace(EXAMPLE.connectors, wait=""))
"""Where each object is a layer, as with connectors, the classes of pools play no part."""


@pytest.mark.parametrize(
    "text",
    [
        "x = pool.get_k_buffer(0)",
        "x = (pool\n    .get_k_buffer(0))",
        "x = pool. \\\n    get_k_buffer(0)",
        "x = getattr(pool, 'get_k_buffer')",
        "class P:\n    def get_k_buffer(self, layer): ...",
        "x = pool.block_buffer[0]",
        "pool.wait_until(3)",
        "wait_until = 3",
        "pool = BlockPool(3)",
        "def f(pool: BlockPool): return pool",
    ],
)
def test_a_word_counts_for_what_it_is_used_as(tmp_path: Path, text: str) -> None:
    assert chosen(tmp_path, text)


@pytest.mark.parametrize(
    "text",
    [
        "def kernel(block_buffer, n): return block_buffer[n]",
        "x = get_k_buffer(0)",
        "from kernels import get_k_buffer",
        "pool.xget_k_buffer(0)",
        "",
    ],
)
def test_a_variable_or_a_function_of_that_name_does_not(tmp_path: Path, text: str) -> None:
    assert not chosen(tmp_path, text)


def chosen(root: Path, text: str) -> bool:
    (root / "one.py").write_text(text, encoding="utf-8")
    with Extractor(1) as extract:
        return Reader(open_tree([root]), PACK, FactsOf(extract, Store(None)), None).relevant("one.py")
