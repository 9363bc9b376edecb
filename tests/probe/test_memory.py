"""Accesses meet where they share a byte, and nowhere else."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from cuda_probe.sim import Access, ranges

parts = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=6)


def touched(pieces):
    return {byte for low, high in pieces for byte in range(low, high)}


@given(parts)
def test_ranges_touch_the_same_bytes_sorted_and_disjoint(pieces):
    """Merging changes how bytes are written down, not which."""
    merged = ranges(pieces)
    assert touched(merged) == touched(pieces)
    assert all(left[1] < right[0] for left, right in pairwise(merged))


@given(parts, parts)
def test_accesses_overlap_where_they_share_a_byte(left, right):
    """The answer is that of the sets of bytes."""
    one, other = Access(1, ranges(left), True), Access(1, ranges(right), False)
    assert one.overlaps(other) == bool(touched(left) & touched(right)) == other.overlaps(one)


@given(parts, parts)
def test_who_covers_touches_every_byte(left, right):
    """It never says yes too often; a cover made of several ranges it may miss."""
    one, other = Access(1, ranges(left), True), Access(1, ranges(right), False)
    assert not one.covers(other) or touched(right) <= touched(left)


def test_other_buffers_never_meet():
    """The key tells buffers apart."""
    assert not Access(1, ((0, 8),), True).overlaps(Access(2, ((0, 8),), True))
