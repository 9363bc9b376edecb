"""Plugins that load: a gate that calls the plugin's wait is as good as the plugins; each object has its own layer."""

from textwrap import indent

import pytest

from auditor.spec import find_pack
from tests.unit.gating.programs import Judged, judged

BASE = """
import torch
import vendor

class KVConnectorBase_V1:
    def has_connector_metadata(self):
        return True

class Attention(torch.nn.Module):
    def __init__(self):
        self.kv_cache = torch.tensor([])

def wait(name):
    if not vendor.has_kv_transfer_group():
        return
    connector = vendor.get_kv_transfer_group()
    attn_metadata = vendor.get_forward_context().attn_metadata
    if attn_metadata is None or not connector.has_connector_metadata():
        return
    connector.wait_for_layer_load(name)

def read(name, q, flag=False):
    layer: Attention = vendor.layers()[name]
"""


def reader(*lines: str) -> str:
    return BASE + indent("\n".join(lines), "    ") + "\n\n"


def connector(
    load: str = "self.engine.post()", wait: str = "pass", offer: str = "n, False", name: str = "Posting"
) -> str:
    return f"""
class {name}Connector(KVConnectorBase_V1):
    def start_load_kv(self, context):
        {load}
    def wait_for_layer_load(self, name):
        {wait}
    def get_num_new_matched_tokens(self, request, n):
        return {offer}
"""


AWAITS = "    def _await_reads_issued_this_step(self):\n        vendor.poll()\n"
READ = "return q @ layer.kv_cache  # here"
WAITED = reader("wait(name)", READ)
GOOD = connector(wait="self.loads[name].wait()", name="Good")


def told(text: str) -> Judged:
    return judged(text, find_pack("vllm"))


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("wait(name)", READ), "gated"),
        ((READ,), "ungated-access"),
        (("if flag:", "    wait(name)", READ), "gate-on-some-paths"),
        (("k = layer.kv_cache.clone()  # here", "wait(name)", "return q @ k"), "gate-after-access"),
        (("k = layer.kv_cache  # here", "wait(name)", "return q @ k"), "gated"),
        (("wait(name)", "return q @ layer.kv_cache[0]  # here"), "gated"),
        (("if not vendor.has_kv_transfer_group():", f"    {READ}", "wait(name)"), "exempt: no-load"),
        (
            ("attn_metadata = vendor.metadata()", "if attn_metadata is None:", f"    {READ}", "wait(name)"),
            "exempt: no-load",
        ),
        (("other = vendor.metadata()", "if other is None:", f"    {READ}"), "ungated-access"),
        (("return layer.kv_cache.shape  # here",), "exempt: metadata"),
    ],
)
def test_the_wait_is_for_the_layer_at_hand(lines: tuple[str, ...], expected: str) -> None:
    assert told(reader(*lines) + GOOD).answer() == expected


@pytest.mark.parametrize(
    ("plugin", "expected"),
    [
        (connector(), "noop-gate"),
        (connector(wait="return None"), "noop-gate"),
        (connector(wait="self.worker.wait_for_layer_load(name)"), "gated"),
        (connector(offer="n, True"), "gated"),
        (connector(offer="0, False"), "gated"),
        (connector(offer="n, self.between"), "gated"),
        (connector(load="pass"), "gated"),
        (connector(load="self._await_reads_issued_this_step()") + AWAITS, "gated"),
    ],
)
def test_a_wait_that_does_nothing_is_told_where_something_may_be_in_flight(plugin: str, expected: str) -> None:
    assert told(WAITED + GOOD + plugin).answer() == expected


def test_a_plugin_that_hands_its_wait_on_is_looked_through() -> None:
    worker = "class Worker:\n    def wait_for_layer_load(self, name):\n        pass\n"
    plugin = connector(wait="self.worker.wait_for_layer_load(name)").replace(
        "    def start", "    def __init__(self):\n        self.worker = Worker()\n    def start", 1
    )
    assert told(WAITED + worker + plugin).answer() == "noop-gate"


def test_the_finding_is_the_plugins() -> None:
    finding = told(WAITED + connector()).finding()
    assert (finding.function, finding.check) == ("m.PostingConnector.wait_for_layer_load", "noop-gate")


def test_what_an_excuse_rests_on_is_named() -> None:
    found = told(WAITED + GOOD + connector(offer="n, True")).bindings()
    assert {outcome.assumption for one in found for outcome in one.outcomes} == {"", "loads-between-passes"}


PASSED = """
import vendor

class RowsImpl(vendor.AttentionImpl):
    def forward(self, name, q, kv_cache, flag=False):
{body}
    def _attend(self, q, kv_cache):
        return vendor.kernel(q, kv_cache[0])  # here

def wait_for_kv_layer_from_connector(name):
    vendor.get_kv_transfer_group().wait_for_layer_load(name)
"""
WAIT = "wait_for_kv_layer_from_connector(name)"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ((WAIT,), "gated"),
        ((), "unknown: unreached"),
        (("if flag:", f"    {WAIT}"), "gate-on-some-paths"),
        (("if flag:", f"    {WAIT}", "else:", f"    {WAIT}"), "gated"),
    ],
)
def test_storage_that_is_passed_in_is_followed_to_its_uses(lines: tuple[str, ...], expected: str) -> None:
    body = indent("\n".join((*lines, "return self._attend(q, kv_cache)")), "        ")
    found = judged(PASSED.format(body=body), find_pack("vllm-ascend"))
    assert found.answer() == expected
    assert {one.function for one in found.findings} <= {"m.RowsImpl.forward"}


def test_storage_that_is_only_written_is_no_read() -> None:
    body = "        vendor.npu_scatter_nd_update_(kv_cache[0], q)  # store"
    assert judged(PASSED.format(body=body), find_pack("vllm-ascend")).answer("store") == "exempt: store"


@pytest.mark.parametrize("base", ["Attention", "MLAAttention"])
def test_of_several_classes_the_finding_names_that_of_the_object_at_hand(base: str) -> None:
    """What is found by name may be of any class; a layer that looks up its own name finds a layer of its class."""
    text = f"""{BASE.partition("def wait")[0]}
class Layer:
    pass

class MLAAttention(torch.nn.Module, Layer):
    def __init__(self):
        self.kv_cache = torch.tensor([])

def look_up(name):
    layer: Attention | MLAAttention = vendor.layers()[name]
    return layer.kv_cache  # here

class Sparse({base}):
    def forward(self, q):
        kv_cache = look_up(self.name)
        return q @ kv_cache

def run(q):
    Sparse.forward(vendor.layer(), q)
"""
    messages = [one.message for one in told(text + GOOD).findings if one.function == "m.Sparse.forward"]
    assert [f" {base}.kv_cache " in one for one in messages] == [True], messages
