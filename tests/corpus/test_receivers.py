"""Receivers that nobody can tell: few, in every release, and each with its reason."""

from __future__ import annotations

import pytest

from tests.receivers import VERSIONS, form, share, table

MOST = 0.02


@pytest.mark.corpus
@pytest.mark.parametrize("version", VERSIONS)
def test_few_receivers_are_unknown(audit, version, capsys):
    rows = table(audit(version).report["sites"])
    sites, unknown = share(rows.values())
    with capsys.disabled():
        print(f"\nsglang {version}: {unknown} of {sites} receivers unknown")
    assert sites > 0
    assert unknown <= MOST * sites


@pytest.mark.parametrize(
    ("receiver", "expected"),
    [
        ("self", "self"),
        ("super()", "super()"),
        ("super(Pool, self)", "super()"),
        ("pool", "name"),
        ("self.pool", "self.name"),
        ("forward_batch.token_to_kv_pool", "name.name"),
        ("self.runner.token_to_kv_pool", "longer chain"),
        ("get_token_to_kv_pool()", "call"),
        ("self.pools[layer_id]", "subscript"),
        ("self.layers[i].pool", "other"),
    ],
)
def test_forms(receiver, expected):
    assert form(receiver) == expected


def _site(receiver: str, verdict: str, reason: str) -> dict:
    return {"receiver": receiver, "verdict": verdict, "bindings": [{"reason": reason}]}


def test_a_site_counts_as_unknown_for_its_receiver_alone():
    rows = table(
        [
            _site("pool", "unknown", "receiver-unresolved"),
            _site("pool", "unknown", "layer-unrelated"),
            _site("pool", "exempt", "not-a-pool"),
        ]
    )
    assert rows["name"].sites == 3
    assert dict(rows["name"].unknown) == {"receiver-unresolved": 1}
    assert share(rows.values()) == (3, 1)
