"""The pack as text: it is one, whatever was learned and whatever names strangers chose."""

from __future__ import annotations

from dataclasses import replace

import pytest

from auditor.learning import Evidence, Learned, Named, pack_of
from auditor.spec import parse_pack
from tests.unit.learning.programs import EVENTS, SHELF, USES, mined
from tests.unit.learning.test_loaders import DECORATOR, DESKS, LIFT, PLUGIN


def text(learned: Learned, source: str = "shop") -> str:
    return pack_of(learned, USES, name="shop", source=source, version_file="shop/version.py")


def test_every_line_has_its_place_and_how_sure_it_is() -> None:
    written = text(mined(EVENTS, SHELF, LIFT))
    entries = [line for line in written.splitlines() if line.startswith('  "')]
    assert len(entries) == 7
    assert [line for line in entries if not (" # high: shop.py:" in line or " # medium: shop.py:" in line)] == []
    assert "\n# high: shop.py:" not in written  # one gate that is used once is not sure
    assert (
        "\n# medium: shop.py:26 Shelf.fetch waits: self.ticket.wait(floor - self.first); shop.py:12\n[[gates]]"
        in written
    )


def test_what_is_written_is_what_was_learned() -> None:
    learned = mined(EVENTS, SHELF, LIFT)
    spec = parse_pack(text(learned), "shop.toml")
    assert (spec.name, spec.version_file, spec.uses) == ("shop", "shop/version.py", USES)
    assert [group.patterns for group in spec.accessors] == [("fetch",), ("peek",)]
    assert [group.patterns for group in (*spec.pools, *spec.buffers, *spec.transfers)] == [
        ("Shelf",),
        ("rows",),
        ("haul",),
    ]
    assert [(gate.method, gate.counter, gate.index) for gate in spec.gates] == [("wait", "ticket", "local")]
    assert [one.method for one in spec.arming] == ["take"]
    assert spec.recognise[0].identifiers == ("ticket", "take", "wait")


def test_plugins_are_a_table() -> None:
    spec = parse_pack(text(mined(couriers=PLUGIN, delivery=DECORATOR, desks=DESKS)), "shop.toml")
    assert (spec.connectors.roots, spec.connectors.offer, spec.connectors.idle) == (("Courier",), "offer", ("notes",))


def test_plugins_without_an_offer_are_a_comment() -> None:
    """The table needs one: a person has to name it."""
    learned = mined(couriers=PLUGIN, delivery=DECORATOR, desks=DESKS)
    assert learned.hooks is not None
    written = text(replace(learned, hooks=replace(learned.hooks, offer="")))
    assert "\n# [connectors]\n" in written
    assert parse_pack(written, "shop.toml").connectors.wait == ""


HOSTILE = 'a\n[engine]\nname = "x"\x1b[31m\u2028"""\\'


@pytest.mark.parametrize("place", ["path", "what", "source"])
def test_nothing_that_strangers_write_ends_a_comment_or_a_text(place: str) -> None:
    learned = mined(EVENTS, SHELF)
    where = Evidence(HOSTILE if place == "path" else "shop.py", 1, HOSTILE if place == "what" else "x")
    learned = replace(learned, pools=(Named("Shelf", "high", (where, where)),))
    written = text(learned, source=HOSTILE if place == "source" else "shop")
    spec = parse_pack(written, "shop.toml")
    assert [group.patterns for group in spec.pools] == [("Shelf",)]
    assert "\x1b" not in written
    assert "\u2028" not in written
