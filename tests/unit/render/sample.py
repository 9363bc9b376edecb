"""A report made by hand that has a bit of everything, and the source lines it speaks of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from auditor.triage import (
    Binding,
    Engine,
    Fix,
    Gate,
    Report,
    ReportedFinding,
    ReportedProblem,
    Scenario,
    Site,
    Stats,
    Step,
)

POOL = "sglang/srt/mem_cache/memory_pool.py"
INDEXER = "sglang/srt/layers/attention/indexer.py"
RUNNER = "sglang/srt/model_executor/model_runner.py"
CONTROLLER = "sglang/srt/managers/cache_controller.py"

SOURCES: dict[str, dict[int, str]] = {
    INDEXER: {
        88: "        pool = forward_batch.token_to_kv_pool",
        91: "        index_k = pool.get_index_k_with_scale_buffer(layer_id)",
        140: "\t\tkeys = forward_batch.token_to_kv_pool.indexer_pool"
        ".get_index_k_scale_continuous(layer_id, seq_len, page_table)",
        166: "        return torch.cat(["
        + "self._project(hidden_states), " * 8
        + "pool.index_k_buffer[layer_id]], dim=-1)",
        201: "        shape = pool.index_k_buffer[0].shape",
        233: "        other = kv.get_key_buffer(layer_id)",
    },
}

GATE = Gate(
    POOL,
    2011,
    "self.wait_layer_transfer(layer_id)",
    "self.layer_transfer_counter of DeepSeekV4TokenToKVPool (made at model_runner.py:1204)",
    "layer_id",
    "layers up to layer_id: the loader records its events in layer order on one stream",
    "HiCacheController.__init__ registers it at cache_controller.py:301",
)

GATED = Binding(
    classes=("sglang.srt.mem_cache.memory_pool.DeepSeekV4TokenToKVPool",),
    objects=(f"{RUNNER}:1204",),
    method="sglang.srt.mem_cache.memory_pool.DeepSeekV4TokenToKVPool.get_index_k_with_scale_buffer",
    mode="eager",
    phase="load-possible",
    scenario="hicache",
    feasible="proved",
    when=("use_mla",),
    verdict="gated",
    reason="",
    check=None,
    assumptions=("decode-slots-disjoint",),
    derivation=(
        Step(RUNNER, 1204, "makes DeepSeekV4TokenToKVPool"),
        Step(RUNNER, 1230, "stores it as ModelRunner.token_to_kv_pool"),
        Step(RUNNER, 1811, "passes it to ForwardBatch.init_new"),
        Step(INDEXER, 88, "reads it as pool"),
    ),
    gates=(GATE,),
)

UNGATED = replace(
    GATED,
    classes=("sglang.srt.mem_cache.memory_pool.DeepSeekV4IndexerPool",),
    objects=(f"{POOL}:1990",),
    method="sglang.srt.mem_cache.memory_pool.DeepSeekV4IndexerPool.get_index_k_scale_continuous",
    verdict="ungated",
    check="bypassed-owner",
    when=(),
    assumptions=(),
    derivation=(Step(POOL, 1990, "makes DeepSeekV4IndexerPool"), Step(INDEXER, 140, "reads it as indexer_pool")),
    gates=(),
    witness=(
        Step(
            "sglang/srt/managers/scheduler.py",
            2410,
            "calls forward_batch_generation",
            "sglang.srt.managers.scheduler.Scheduler.run_batch",
        ),
        Step(
            RUNNER,
            1811,
            "calls self.model.forward",
            "sglang.srt.model_executor.model_runner.ModelRunner.forward_extend",
        ),
        Step(
            INDEXER,
            120,
            "takes the branch forward_mode.is_extend()",
            "sglang.srt.layers.attention.indexer.Indexer._ragged_topk",
        ),
        Step(
            INDEXER,
            140,
            "reads the buffer; no gate is held",
            "sglang.srt.layers.attention.indexer.Indexer._ragged_topk",
        ),
    ),
)

UNKNOWN = replace(
    GATED,
    classes=(),
    objects=(),
    method="",
    scenario="",
    feasible="flow",
    when=(),
    verdict="unknown",
    reason="receiver-unresolved",
    check="unresolved-receiver",
    assumptions=(),
    derivation=(Step(INDEXER, 230, "kv is the result of a plug-in hook"),),
    gates=(),
)

EXEMPT = replace(GATED, method="", verdict="exempt", reason="metadata", assumptions=(), gates=(), when=())

LATENT = replace(
    UNGATED,
    verdict="latent",
    check="ungated-access",
    reason="its register method raises",
    scenario="",
    classes=("sglang.srt.mem_cache.memory_pool.SWAKVPool",),
)


def site(id_: str, line: int, name: str, verdict: str, *bindings: Binding, **changes: object) -> Site:
    """Make a site of the indexer."""
    made = Site(
        id=id_,
        path=INDEXER,
        line=line,
        column=19,
        kind="call",
        name=name,
        receiver="pool",
        function="sglang.srt.layers.attention.indexer.Indexer._ragged_topk",
        role="product",
        verdict=verdict,
        open=(),
        bindings=bindings,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


SITES = (
    site("s1", 91, "get_index_k_with_scale_buffer", "gated", GATED),
    site(
        "s2",
        140,
        "get_index_k_scale_continuous",
        "ungated",
        UNGATED,
        column=10,
        receiver="forward_batch.token_to_kv_pool.indexer_pool",
    ),
    site("s3", 166, "index_k_buffer", "latent", LATENT, kind="attribute", column=267),
    site("s4", 201, "index_k_buffer", "exempt", EXEMPT, kind="attribute", column=17),
    site("s5", 233, "get_key_buffer", "unknown", UNKNOWN, receiver="kv", column=17, open=("a plug-in hook",)),
    site("s6", 310, "get_index_k_scale_continuous", "ungated", replace(UNGATED, witness=UNGATED.witness[:2])),
)


def finding(check: str, severity: str, line: int, fingerprint: str, **changes: object) -> ReportedFinding:
    """Make a finding in the indexer."""
    made = ReportedFinding(
        check=check,
        severity=severity,
        confidence="high",
        message="a sentence about it",
        fingerprint=fingerprint,
        path=INDEXER,
        line=line,
        column=17,
        end_line=line,
        end_column=30,
        function="sglang.srt.layers.attention.indexer.Indexer._ragged_topk",
        class_="sglang.srt.mem_cache.memory_pool.DeepSeekV4IndexerPool",
        method="sglang.srt.mem_cache.memory_pool.DeepSeekV4IndexerPool.get_index_k_scale_continuous",
        buffer="index_k_with_scale_buffer",
        executions=(),
        sites=(),
        status="new",
        confirmation=None,
        witness=(),
        related=(),
        fix=None,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


FIX = Fix(
    path=INDEXER,
    line=140,
    end_line=140,
    text="\t\tforward_batch.token_to_kv_pool.wait_layer_transfer(layer_id)\n" + SOURCES[INDEXER][140],
    gate="forward_batch.token_to_kv_pool.wait_layer_transfer(layer_id)",
    like=f"{POOL}:2011",
)
FINDINGS = (
    finding(
        "gate-on-some-paths",
        "warning",
        166,
        "f2",
        confidence="medium",
        column=267,
        end_column=296,
        message="the gate is skipped when `chunked` is false, and that branch reaches the read",
        method="",
        sites=("s3",),
        witness=LATENT.witness[2:],
    ),
    finding(
        "bypassed-owner",
        "error",
        140,
        "f1",
        column=10,
        end_column=113,
        message=(
            "`DeepSeekV4IndexerPool.get_index_k_scale_continuous` reads index-K round its owner: "
            "DeepSeekV4TokenToKVPool waits for the layer, this call does not"
        ),
        executions=("eager, load possible",),
        sites=("s2", "s6"),
        witness=UNGATED.witness,
        related=(
            Step(
                POOL,
                1996,
                "disarms the inner pool: registers None",
                "p.DeepSeekV4TokenToKVPool.register_layer_transfer_counter",
            ),
        ),
        hints=(
            f"nearest gate: DeepSeekV4TokenToKVPool.get_index_k_with_scale_buffer waits at {POOL}:2011",
            "call the method of the same name on forward_batch.token_to_kv_pool, or wait in it before it reads",
        ),
        fix=FIX,
    ),
    finding("pack-gap", "note", 300, "f3", message="`draft_k_buffer` is written by a loader and read by no known name"),
    *(
        finding("unresolved-receiver", "note", 400 + n, f"n{n}", message=f"`kv_{n}.get_key_buffer` cannot be bound")
        for n in range(5)
    ),
    finding("ungated-access", "error", 310, "f4", confidence="low", message="a path that is not proved"),
    finding("ungated-access", "error", 320, "f5", status="suppressed", message="a suppressed one"),
)

ALIKE = tuple(
    replace(
        FINDINGS[1],
        fingerprint=fingerprint,
        buffer=buffer,
        message=f"`Pool.get` reads Pool.{buffer} round its owner",
        witness=(*FINDINGS[1].witness[:-1], replace(FINDINGS[1].witness[-1], what=f"reads Pool.{buffer}")),
    )
    for fingerprint, buffer in (("e0", "k_buffer"), ("f0", "v_buffer"))
)
"""Two findings for which one wait is missing."""

REPORT = Report(
    tool_version="0.1.0",
    root="/home/me/sglang",
    engine=Engine("sglang", "0.5.23", "rules/sglang.toml"),
    scenarios=(Scenario("hicache", CONTROLLER, 301, "HiCacheController"),),
    stats=Stats(
        files=4719,
        files_parsed=412,
        sites=6,
        bindings=6,
        verdicts={"ungated": 2, "unknown": 1, "latent": 1, "gated": 1, "exempt": 1},
        unknown_reasons={"receiver-unresolved": 1},
        assumptions_used=1,
        seconds=12.34,
    ),
    sites=SITES,
    findings=FINDINGS,
    problems=(
        ReportedProblem(INDEXER, 12, "syntax error: the rest of the file was not read", relevant=True),
        *(ReportedProblem(f"sglang/old/py2_{n}.py", 1, "not Python 3", relevant=False) for n in range(7)),
    ),
    configuration="pyproject.toml",
    notes=("2 files left out: links out of the root",),
)

CLEAN_REPORT = replace(
    REPORT,
    sites=SITES[:1],
    findings=(),
    problems=(),
    stats=replace(REPORT.stats, sites=1, bindings=1, verdicts={"gated": 1}, unknown_reasons={}),
    configuration="",
    notes=(),
)


def lines(path: str) -> Sequence[str]:
    """Return the source lines of the sample; nothing where it has none."""
    known = SOURCES.get(path, {})
    return [known.get(number, "") for number in range(1, max(known, default=0) + 1)]
