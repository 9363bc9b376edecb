"""A gate orders the stream that is current where it is called; a use on another needs an order between the two."""

import pytest

from tests.unit.gating.programs import GATED, answer

GET = "k = self.pool.get_key_buffer(layer_id)  # here"
ENTER = "with torch.cuda.stream(self.side):"
READ = "    return q @ k"
JOIN = "self.side.wait_stream(torch.cuda.current_stream())"


def reader(*lines: str, side: str = "torch.cuda.Stream()") -> str:
    body = "".join(f"        {line}\n" for line in lines)
    return f"""
import vendor

class Reader:
    def __init__(self):
        self.pool = KeyPool(4)
        Controller(self.pool)
        self.side = {side}
        self.event = torch.cuda.Event()
    def read(self, layer_id, q, flag=False):
{body}
"""


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ((GET, ENTER, READ), "wrong-stream-gate"),
        ((GET, JOIN, ENTER, READ), "gated"),
        ((JOIN, GET, ENTER, READ), "wrong-stream-gate"),
        ((GET, "if flag:", f"    {JOIN}", ENTER, READ), "wrong-stream-gate"),
        ((GET, "self.event.record()", "self.side.wait_event(self.event)", ENTER, READ), "gated"),
        (("self.event.record()", GET, "self.side.wait_event(self.event)", ENTER, READ), "wrong-stream-gate"),
        ((GET, "self.event.record()", ENTER, READ), "wrong-stream-gate"),
        ((GET, "self.event.record()", "self.event.wait(self.side)", ENTER, READ), "gated"),
        ((GET, "self.event.record()", "self.event.wait()", ENTER, READ), "wrong-stream-gate"),
        ((GET, "torch.cuda.synchronize()", ENTER, READ), "gated"),
        ((ENTER, f"    {GET}", READ), "gated"),
        ((ENTER, f"    {GET}", "return q @ k"), "wrong-stream-gate"),
        ((ENTER, f"    {GET}", "torch.cuda.current_stream().wait_stream(self.side)", "return q @ k"), "gated"),
        ((GET, "with torch.cuda.stream(torch.cuda.current_stream()):", READ), "gated"),
        ((GET, ENTER, "    pass", "return q @ k"), "gated"),
        ((GET, "with torch.no_grad():", READ), "gated"),
    ],
)
def test_the_stream_of_the_use_is_behind_the_stream_of_the_gate(lines: tuple[str, ...], expected: str) -> None:
    assert answer(GATED, reader(*lines)) == expected


def test_a_stream_from_outside_may_be_the_same_one() -> None:
    assert answer(GATED, reader(GET, ENTER, READ, side="vendor.pick()")) == "unknown: stream-unknown"
    assert answer(GATED, reader(GET, JOIN, ENTER, READ, side="vendor.pick()")) == "gated"


def test_a_wait_of_the_reader_itself_is_on_a_stream_too() -> None:
    wait = "self.pool.layer_transfer_counter.wait_until(layer_id)"
    raw = "    return q @ self.pool.k_buffer[layer_id]  # here"
    assert answer(GATED, reader(wait, ENTER, raw)) == "wrong-stream-gate"
    assert answer(GATED, reader(wait, JOIN, ENTER, raw)) == "gated"
