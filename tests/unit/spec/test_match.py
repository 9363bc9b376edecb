"""Names match by shell patterns on their last part; the byte scan finds the same identifiers in whole files."""

import fnmatch
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.spec import Connectors, Graphs, Names, load_pack, matches, needles, seed_pattern, seeds

CONNECTED = load_pack(Path(__file__).parent / "example.toml")
PACK = replace(CONNECTED, connectors=Connectors((), "", "", "", (), (), "", ""), parameters=())
GROUPS = (Names(("get_*_buffer", "take?"), "first"), Names(("get_*", "[ab]_pool", "*Pool"), "second"))

LETTERS = "ab_1é"
IDENTIFIERS = st.text(alphabet=LETTERS, min_size=1, max_size=6).filter(str.isidentifier)
PATTERNS = st.text(alphabet=LETTERS + "*?", min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("get_key_buffer", "first"),
        ("self.pool.get_key_buffer", "first"),
        ("get_key", "second"),
        ("take1", "first"),
        ("take", None),
        ("b_pool", "second"),
        ("c_pool", None),
        ("KVPool", "second"),
        ("KVPool.size", None),
        ("GET_KEY", None),
        ("xget_key", None),
        ("", None),
    ],
)
def test_the_first_group_with_a_pattern_for_the_last_part_is_found(name, why):
    found = matches(name, GROUPS)
    assert (found.why if found else None) == why


def test_no_groups_match_nothing():
    assert matches("anything", ()) is None


def test_seeds_are_the_literal_names_of_gates_counters_arming_pools_and_graphs():
    assert seeds(PACK) == {"wait_until", "layer_counter", "register_counter", "BlockPool", "DeviceGraph"}


def test_where_each_object_is_a_layer_its_class_makes_no_file_worth_a_look():
    assert seeds(CONNECTED) == (seeds(PACK) - {"BlockPool"}) | {"wait_for_blocks", "offer_blocks"}
    words = b"BlockPool wait_for_blocks block_cache"
    assert seed_pattern(CONNECTED).findall(words) == [b"wait_for_blocks", b"block_cache"]


def test_the_scan_finds_whole_identifiers_only():
    text = b"get_k_buffer(xget_k_buffer, self.block_buffer2, block_buffer) BlockPool take3 take1\n_BlockPool wait_until"
    found = seed_pattern(PACK).findall(text)
    assert found == [b"get_k_buffer", b"block_buffer", b"BlockPool", b"take1", b"wait_until"]


@given(st.lists(PATTERNS, min_size=1, max_size=4), st.lists(IDENTIFIERS, max_size=8))
def test_the_scan_finds_what_matches(patterns, identifiers):
    pack = replace(PACK, accessors=(Names(tuple(patterns), "w"),), buffers=(), pools=(), gates=(), arming=())
    text = " ".join(identifiers)
    expected = [name for name in identifiers if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)]
    assert [found.decode() for found in seed_pattern(pack).findall(text.encode())] == expected


@given(st.lists(PATTERNS, min_size=1, max_size=4), IDENTIFIERS)
def test_what_the_scan_finds_holds_a_needle(patterns, identifier):
    pack = replace(PACK, accessors=(Names(tuple(patterns), "w"),), buffers=(), pools=(), gates=(), arming=())
    if seed_pattern(pack).search(identifier.encode()):
        assert any(needle in identifier.encode() for needle in needles(pack))


def test_needles_that_hold_another_are_left_out():
    pack = replace(PACK, buffers=(Names(("k_buffer", "block_buffer", "take[12]_*_x"), "w"),))
    expected = {b"BlockPool", b"IndexPool", b"buffer", b"gather_index", b"register_counter", b"take", b"wait_until"}
    assert set(needles(pack)) == expected | {b"layer_counter", b"DeviceGraph", b"copy_blocks"}


def test_a_pack_without_names_finds_nothing():
    bare = replace(PACK, accessors=(), buffers=(), pools=(), transfers=(), gates=(), arming=())
    bare = replace(bare, graphs=Graphs((), "", (), ""))
    assert seed_pattern(bare).search(b"anything at all") is None


def test_a_hostile_identifier_costs_linear_time():
    pack = replace(PACK, accessors=(Names(("a*a*a*a*b", "*a*a*a*b"), "w"),))
    start = time.perf_counter()
    assert seed_pattern(pack).search(b"a" * 1_000_000) is None
    assert time.perf_counter() - start < 5
