"""Triton kernels on the simulated device: run by Triton's interpreter where the schedule says, in a process of its
own."""

import importlib.util
import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")

from cuda_probe.dispatch.interpreted import stored_and_loaded  # needs PyTorch
from tests.probe.test_cli import plan_of
from tests.probe.test_sglang import FILES

ROOT = Path(__file__).parents[2]
POOL = """
    import torch, triton
    import triton.language as tl
    from sglang.srt.mem_cache.memory_pool import MHATokenToKVPool

    @triton.jit
    def _gather(buffer, rows, out, width: tl.constexpr):
        here, lanes = tl.program_id(0), tl.arange(0, width)
        row = tl.load(rows + here)
        source = buffer + row * width
        tl.store(out + here * width + lanes, tl.load(source + lanes))

    class Pool(MHATokenToKVPool):
        def get_ungated(self, layer_id, loc):
            out = torch.empty(len(loc), 32, dtype=torch.bfloat16, device="cuda")
            _gather[(len(loc),)](self.k_buffer[layer_id], loc.to("cuda"), out, 32)
            return out
        def get_gated(self, layer_id, loc):
            self.wait(layer_id)
            return self.get_ungated(layer_id, loc)
"""


def test_a_kernel_shows_what_it_writes_and_what_it_reads():
    """By the addresses that it loads from and stores to, however these are computed; a loaded value is no address."""
    tl: Any = None

    def kernel(a, b, c, d, e, f, n):
        rows = tl.load(b + n)
        source, target = a + rows, c
        target += n
        values = tl.load(source)
        tl.store(target + rows, values)
        tl.atomic_add(d, 1)
        print(f)

    written, read = stored_and_loaded(kernel)
    assert set(written) == {"c", "n", "d", "f"}
    assert set(read) == {"a", "b", "n", "d", "f"}


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    if any(importlib.util.find_spec(name) is None for name in ("triton", "numpy")):
        pytest.skip("Triton is not installed (make kernels installs it)")
    tree: Path = tmp_path_factory.mktemp("tree")
    for name, text in {**FILES, "sglang/srt/mem_cache/pool.py": POOL}.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(textwrap.dedent(text))
    plan = plan_of(tree, *(("sglang.srt.mem_cache.pool", "Pool", method) for method in ("get_ungated", "get_gated")))
    line = [sys.executable, "-m", "cuda_probe", "run", plan, "--tree", tree, "--execute", "--interpret"]
    done = subprocess.run([str(part) for part in line], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    return {one["experiment"]["method"]: one for one in json.loads(done.stdout)["records"]}


def test_a_kernel_that_reads_too_early_reads_wrong_values(records):
    """The rows that it gathers, not the whole buffer."""
    record = records["get_ungated"]
    assert (record["label"], record["fidelity"]["kernels"]) == ("confirmed on sim", "interpreted")
    (race, *_) = record["races"]
    assert race["second"]["name"] == "_gather"
    assert race["bytes"] <= 128 * 32 * 2
    assert "triton" not in record["fidelity"]["stubs"]


def test_a_kernel_behind_the_gate_is_ordered(records):
    """The path ends at it."""
    record = records["get_gated"]
    assert (record["label"], record["fidelity"]["kernels"]) == ("ordered on sim", "interpreted")
    assert record["path"][-1]["name"] == "_gather"
