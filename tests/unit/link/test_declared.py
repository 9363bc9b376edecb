# ruff: noqa: E501  # a program a line reads better than a program torn apart
"""What a field is declared to hold filters what is stored into it, store by store; where the flow contradicts it, the flow is right."""

from __future__ import annotations

from tests.unit.link.programs import link, probe

CLASSES = "class APool:\n    def get_k_buffer(self): return 1\nclass BPool:\n    def get_k_buffer(self): return 2\n"
TWO_STORES = """
class H:
    def __init__(self, p, q, flag):
        if flag:
            self.p = p
        else:
            self.p: APool = q
def f(h):
    probe(h.p)
    h.p.get_k_buffer()
"""


def test_a_declaration_keeps_out_what_it_does_not_admit() -> None:
    source = CLASSES + TWO_STORES + "def both(c):\n    return APool() if c else BPool()\nf(H(APool(), both(x), x))"
    assert probe(link(source, on_demand=True)) == {"APool"}


def test_a_store_that_it_admits_nothing_of_contradicts_it() -> None:
    source = CLASSES + TWO_STORES + "f(H(BPool(), APool(), x))"
    assert probe(link(source, on_demand=True)) == {"APool", "BPool"}
