"""What is done with storage: only what reads its elements needs a gate (DESIGN.md §2.11)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from auditor.spec import EngineSpec, Kernel, find_pack
from tests.unit.gating.programs import GATED, READ, engine, judged


def use(statement: str, pool: str = READ, code: str = "", spec: EngineSpec | None = None) -> str:
    """The answer for the accessor call in a statement; ``buf`` is what it gives."""
    text = f"""
{code}

def use(pool, layer_id, loc, x, q, out):
    buf = pool.get_key_buffer(layer_id)  # here
    {statement}

def serve(layer_id, loc, x, q, out):
    pool = KeyPool(4)
    Controller(pool)
    use(pool, layer_id, loc, x, q, out)
"""
    return judged(engine(pool, text), spec).answer()


ELEMENTS = [
    "q @ buf",
    "q + buf",
    "buf - q",
    "buf[loc]",
    "buf[loc].float()",
    "buf.clone()",
    "buf.sum()",
    "buf.to(q.dtype)",
    "buf.cpu()",
    "buf.index_select(0, loc)",
    "torch.matmul(q, buf)",
    "out.copy_(buf)",
    "attention(q, buf)",
    "attention(q, k=buf)",
    "buf.view(-1, 8).sum()",
    "buf.view(-1, 8)[0].sum()",
    "buf[:4].sum()",
    "buf[loc] += x",
    "buf == q",
    "x = [buf]\n    attention(q, x[0])",
    "x, y = buf, q\n    attention(y, x)",
    "if q is None:\n        buf = buf.T\n    attention(q, buf)",
    "print(buf.shape)\n    attention(q, buf)",
    "for row in buf:\n        attention(q, row)",
    "attention(*[q, buf])",
    "(lambda: 0)() or buf.max()",
]


@pytest.mark.parametrize("statement", ELEMENTS)
def test_reads_of_elements_need_the_gate(statement: str) -> None:
    assert use(statement) == "ungated-access"
    assert use(statement, GATED) == "gated"


@pytest.mark.parametrize(
    "statement",
    [
        "return buf.shape",
        "return buf.dtype, buf.device",
        "return buf.nbytes",
        "return buf.shape[0]",
        "return buf.size(0)",
        "return buf.numel() * buf.element_size()",
        "return buf is None",
        "return buf is not None",
        "return len(buf)",
        "return isinstance(buf, torch.Tensor)",
        "return torch.empty_like(buf)",
        "return buf.view(-1).shape",
        "return buf[0].shape",
        "return buf[:4].dtype",
        "return buf[loc].shape",
        "pass",
        "if buf is None:\n        return 0",
    ],
)
def test_metadata_needs_none(statement: str) -> None:
    assert use(statement) == "exempt: metadata"


@pytest.mark.parametrize(
    "statement", ["return buf.data_ptr()", "return buf.view(-1).data_ptr()", "return buf[0].data_ptr()"]
)
def test_an_address_needs_none(statement: str) -> None:
    assert use(statement) == "exempt: address"


@pytest.mark.parametrize(
    "statement",
    [
        "buf[loc] = x",
        "buf[loc, 0] = x",
        "buf.view(-1, 8)[loc] = x",
        "buf.copy_(x)",
        "buf[:4].copy_(x)",
        "buf.zero_()",
        "buf[loc].copy_(x)",
        "buf.index_copy_(0, loc, x)",
    ],
)
def test_a_store_needs_none(statement: str) -> None:
    assert use(statement) == "exempt: store"


@pytest.mark.parametrize("first", ["buf[loc] = x", "y = buf.shape", "y = buf.data_ptr()"])
def test_one_read_among_other_uses_is_a_read(first: str) -> None:
    assert use(f"{first}\n    attention(q, buf)") == "ungated-access"


# ------------------------------------------------------------------ functions of the tree


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return k.shape", "exempt: metadata"),
        ("k[x] = q", "exempt: store"),
        ("return k.data_ptr()", "exempt: address"),
        ("return q @ k", "ungated-access"),
        ("return unknown(k)", "ungated-access"),
        ("return deeper(q, k)", "ungated-access"),
        ("return k", "exempt: metadata"),
        ("return 0", "exempt: metadata"),
    ],
)
def test_what_a_callee_does_with_it(body: str, expected: str) -> None:
    code = f"def helper(q, k, x=0):\n    {body}\n\ndef deeper(q, k):\n    return q @ k\n"
    assert use("helper(q, buf)", READ, code) == expected
    assert use("helper(q, k=buf)", READ, code) == expected


def test_what_a_callee_hands_back_is_followed() -> None:
    code = "def same(k):\n    return k.view(-1, 8)\n"
    assert use("q @ same(buf)", READ, code) == "ungated-access"
    assert use("return same(buf).shape", READ, code) == "exempt: metadata"


def test_a_kernel_of_the_pack_that_only_stores() -> None:
    assert use("fused_qk_norm_rope_swa_store(q, swa_cache=buf)") == "exempt: store"
    assert use("fused_qk_norm_rope_swa_store(q, other=buf)") == "ungated-access"


@pytest.mark.parametrize(
    ("kernel", "call", "expected"),
    [
        (Kernel("*_and_cache*", ("*",), "why"), "reshape_and_cache_flash(q, buf)", "exempt: store"),
        (Kernel("*_and_cache*", ("*",), "why"), "reshape_and_cache_flash(**{'rows': buf})", "exempt: store"),
        (Kernel("*_and_cache*", ("*",), "why"), "gather_cache(q, buf)", "ungated-access"),
        (Kernel("*_and_cache*", (1, "to"), "why"), "reshape_and_cache(q, buf)", "exempt: store"),
        (Kernel("*_and_cache*", (0, "to"), "why"), "reshape_and_cache(q, buf)", "ungated-access"),
        (Kernel("*_and_cache*", (0, "to"), "why"), "reshape_and_cache(q, to=buf)", "exempt: store"),
    ],
)
def test_kernels_of_the_pack_by_a_pattern(kernel: Kernel, call: str, expected: str) -> None:
    assert use(call, spec=replace(find_pack("sglang"), kernels=(kernel,))) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("tl.store(k + tl.program_id(0), x)", "exempt: store"),
        ("x = tl.load(k + tl.program_id(0))\n    tl.store(o, x)", "ungated-access"),
        ("tl.store(k, tl.load(k))", "ungated-access"),
        ("tl.store(o, tl.load(x))", "exempt: metadata"),
    ],
)
def test_directions_of_a_triton_kernel(body: str, expected: str) -> None:
    code = f"import triton\nimport triton.language as tl\n\n@triton.jit\ndef kernel(k, x, o):\n    {body}\n"
    assert use("kernel[(1,)](buf, x, out)", READ, code) == expected


def test_a_kernel_nobody_knows_has_confidence_low() -> None:
    """Its direction is unknown: a finding, but one that says so."""
    text = """
    def serve(layer_id, q):
        pool = KeyPool(4)
        Controller(pool)
        launch(pool.get_key_buffer(layer_id))
    """
    assert judged(engine(READ, text)).finding().confidence == "low"


# ------------------------------------------------------------------ parts, lists, raw storage


def raw(expression: str) -> str:
    code = f"""
    def use(pool, layer_id, loc, q):
        {expression}  # here

    def serve(layer_id, loc, q):
        pool = KeyPool(4)
        Controller(pool)
        use(pool, layer_id, loc, q)
    """
    return judged(engine(READ, code)).answer()


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("q @ pool.k_buffer[layer_id]", "bypassed-owner"),
        ("return pool.k_buffer[layer_id].shape", "exempt: metadata"),
        ("return pool.k_buffer[0].dtype", "exempt: metadata"),
        ("return len(pool.k_buffer)", "exempt: metadata"),
        ("return pool.k_buffer[layer_id].data_ptr()", "exempt: address"),
        ("pool.k_buffer[layer_id][loc] = q", "exempt: store"),
        ("return [one.data_ptr() for one in pool.k_buffer]", "exempt: address"),
        ("return sum(one.nbytes for one in pool.k_buffer)", "exempt: metadata"),
        ("return [one.sum() for one in pool.k_buffer]", "bypassed-owner"),
        ("return pool.k_buffer[layer_id][loc]", "bypassed-owner"),
        ("return [one.data_ptr() for one in pool.k_buffer + pool.v_buffer]", "exempt: address"),
        ("return [one.sum() for one in pool.k_buffer + pool.v_buffer]", "bypassed-owner"),
        ("return [one.data_ptr() for one in [*pool.k_buffer, *pool.v_buffer]]", "exempt: address"),
        ("return [k.shape for k, v in zip(pool.k_buffer, pool.v_buffer)]", "exempt: metadata"),
        ("del pool.k_buffer", "no site"),
        ("pool.k_buffer = None", "no site"),
    ],
)
def test_raw_storage(expression: str, expected: str) -> None:
    assert raw(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("pool.mamba_cache.conv[0].shape", "exempt: metadata"),
        ("pool.mamba_cache.temporal.dtype", "exempt: metadata"),
        ("pool.mamba_cache.conv[layer_id].sum()", "bypassed-owner"),
        ("pool.mamba_cache.at_layer(layer_id).conv.sum()", "bypassed-owner"),
        ("pool.mamba_cache.conv[layer_id][loc]", "bypassed-owner"),
        ("pool.mamba_cache.conv[layer_id].data_ptr()", "exempt: address"),
    ],
)
def test_parts_of_storage_that_is_a_structure(expression: str, expected: str) -> None:
    pool = "def __init__(self, layer_num):\n    super().__init__(layer_num)\n    self.mamba_cache = State(layer_num)\n"
    code = f"""
    class State:
        def __init__(self, layers):
            self.conv = [torch.zeros(4)]
            self.temporal = torch.zeros(4)

    def use(pool, layer_id, loc):
        return {expression}  # here

    def serve(layer_id, loc):
        pool = KeyPool(4)
        Controller(pool)
        use(pool, layer_id, loc)
    """
    assert judged(engine(pool, code)).answer() == expected


# ------------------------------------------------------------------ escape


@pytest.mark.parametrize(
    "statement", ["x.kept = buf", "x['kept'] = buf", "x.kept = buf.view(-1, 8)", "global KEPT\n    KEPT = buf"]
)
def test_a_handle_that_is_kept(statement: str) -> None:
    assert use(statement) == "buffer-escape"


def test_a_gate_that_dominates_the_escape_covers_it() -> None:
    assert use("x.kept = buf", GATED) == "gated"


def test_what_is_kept_of_the_shape_is_no_escape() -> None:
    assert use("x.kept = buf.shape") == "exempt: metadata"
