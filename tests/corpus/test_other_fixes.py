"""Public fixes that no case of the list names: what is told at that place before, and in the first release after."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from tests.corpus.audits import audit_release, short

pytestmark = pytest.mark.corpus


class Fix(NamedTuple):
    """``before`` has the bug in ``file``, in one of the ``functions``; ``after`` is the first release without. ``says``
    tells it from others at the same place."""

    before: str
    after: str
    file: str
    functions: tuple[str, ...]
    check: str
    says: str = ""


FIXES = (
    Fix(
        "vllm==0.13.0",
        "vllm==0.14.0",
        "v1/kv_offload/worker/cpu_gpu.py",
        ("transfer_async",),
        "unfenced-transfer",
        "which waits for nothing",
    ),
    Fix(
        "vllm==0.27.1",
        "vllm==0.28.0",
        "v1/kv_offload/cpu/gpu_worker.py",
        ("transfer_async",),
        "unfenced-transfer",
        "only where",
    ),
    Fix(
        "vllm-ascend==0.18.0",
        "vllm-ascend==0.23.0",
        "kv_offload/cpu_npu.py",
        ("transfer_async",),
        "unfenced-transfer",
        "which waits for nothing",
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
    Fix("sglang==0.4.9", "sglang==0.4.9.post6", "mem_cache/hiradix_cache.py", ("write_backup",), "unfenced-transfer"),
    Fix(
        "sglang==0.5.12",
        "sglang==0.5.13.post1",
        "mem_cache/hi_mamba_radix_cache.py",
        ("_match_post_processor",),
        "bypassed-owner",
    ),
    Fix("sglang==0.5.21", "sglang==0.5.22", "mem_cache/memory_pool.py", ("get_ngram_context",), "ungated-access"),
)

QUICK = ("vllm==0.14.0", "vllm==0.28.0", "vllm-ascend==0.23.0", "lmcache==0.5.3")
"""Releases that are audited in less than a minute."""


def told(release: str, fix: Fix) -> set[str]:
    """The functions of a fix with a finding of its check."""
    return {
        short(finding["function"])
        for finding in audit_release(release).report["findings"]
        if finding["check"] == fix.check
        and finding["severity"] != "note"
        and finding["path"].endswith(fix.file)
        and fix.says in finding["message"]
    } & {*fix.functions}


def _params() -> list[Any]:
    """Releases that no other test audits are left to ``make long``, where that takes minutes."""
    marks = [() if fix.after in ("sglang==0.5.23", *QUICK) else (pytest.mark.long,) for fix in FIXES]
    return [
        pytest.param(fix, marks=mark, id=f"{fix.before}-{fix.functions[0]}")
        for fix, mark in zip(FIXES, marks, strict=True)
    ]


@pytest.mark.parametrize("fix", _params())
def test_told_before_the_fix_and_not_after(release, fix: Fix) -> None:
    release(fix.before)
    release(fix.after)
    assert (told(fix.before, fix), told(fix.after, fix)) == ({*fix.functions}, set())
