"""Public fixes that no case of the list names: what is told at the place in the release before, and in the one after."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from tests.corpus.audits import audit_release, short

pytestmark = pytest.mark.corpus


class Fix(NamedTuple):
    """``before`` has the bug in ``file``, in one of the ``functions``; ``after`` is the first release without."""

    before: str
    after: str
    file: str
    functions: tuple[str, ...]
    check: str


FIXES = (
    Fix("vllm==0.13.0", "vllm==0.14.0", "v1/kv_offload/worker/cpu_gpu.py", ("transfer_async",), "unfenced-transfer"),
    Fix(
        "vllm-ascend==0.18.0", "vllm-ascend==0.23.0", "kv_offload/cpu_npu.py", ("transfer_async",), "unfenced-transfer"
    ),
    Fix(
        "lmcache==0.5.2",
        "lmcache==0.5.3",
        "v1/multiprocess/modules/lmcache_driven_transfer.py",
        ("retrieve",),
        "unfenced-transfer",
    ),
    Fix("sglang==0.5.22", "sglang==0.5.23", "managers/cache_controller.py", ("start_writing",), "unfenced-transfer"),
    Fix(
        "sglang==0.5.15",
        "sglang==0.5.16",
        "mem_cache/deepseek_v4_memory_pool.py",
        ("get_unified_kv",),
        "ungated-access",
    ),
    Fix(
        "sglang==0.5.19",
        "sglang==0.5.20",
        "hardware_backend/npu/dsv4/dsv4_memory_pool.py",
        ("get_key_buffer", "get_kv_buffer", "get_swa_buffer", "get_compress_buffer"),
        "ungated-access",
    ),
    Fix(
        "sglang==0.5.19",
        "sglang==0.5.20",
        "model_executor/model_runner.py",
        ("_maybe_execute_deferred_mamba_cow_and_clear",),
        "bypassed-owner",
    ),
)


def told(release: str, fix: Fix) -> set[str]:
    """The functions of a fix with a finding of its check."""
    return {
        short(finding["function"])
        for finding in audit_release(release).report["findings"]
        if finding["check"] == fix.check and finding["severity"] != "note" and finding["path"].endswith(fix.file)
    } & {*fix.functions}


@pytest.mark.parametrize("fix", FIXES, ids=lambda fix: f"{fix.before}-{fix.functions[0]}")
def test_told_before_the_fix_and_not_after(release, fix: Fix) -> None:
    release(fix.before)
    release(fix.after)
    assert (told(fix.before, fix), told(fix.after, fix)) == ({*fix.functions}, set())
