"""What is a loader, and what its operations are: through calls, on which stream."""

from __future__ import annotations

from auditor.loading import COPY, FENCE, JOIN, RECORD, SIGNAL, Loader
from tests.unit.loading.programs import loader, loading

USUAL = """
self.stream.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(self.stream):
    for layer in range(4):
        self.copy(layer)
        self.done.complete(layer)
"""


def found(body: str, beside: str = "") -> Loader | None:
    return loading(loader(body, beside=beside)).loaders.get("m.Loader.load")


def operations(one: Loader | None) -> list[tuple[str, str]]:
    assert one is not None
    order = (FENCE, JOIN, COPY, SIGNAL, RECORD)
    return [("+".join(kind for kind in order if kind in op.kinds), op.stream) for op in one.operations]


def test_copies_and_signals_make_a_loader() -> None:
    one = found(USUAL)
    assert operations(one) == [("fence", ""), ("copy", "self.stream"), ("signal+record", "self.stream")]
    assert one is not None
    assert (one.cls, one.counts) == ("m.Loader", True)


def test_the_method_that_copies_is_none() -> None:
    assert set(loading(loader(USUAL)).loaders) == {"m.Loader.load"}


def test_an_event_recorded_behind_copies_on_a_stream_makes_one_as_well() -> None:
    one = found("ready = torch.cuda.Event()\nself.copy(0)\nready.record(self.stream)\nself.ready = ready")
    assert operations(one) == [("copy", ""), ("record", "")]
    assert one is not None
    assert not one.counts


def test_copies_on_the_stream_of_the_caller_need_no_loader() -> None:
    assert found("self.copy(0)\nready = torch.cuda.Event()\nready.record()") is None


def test_a_stream_is_current_from_set_stream_on() -> None:
    body = "self.copy(0)\ntorch.cuda.set_stream(self.stream)\nself.copy(1)\nself.done.complete(1)"
    assert [stream for kind, stream in operations(found(body)) if kind == "copy"] == ["", "self.stream"]


def test_a_context_that_is_kept_in_an_attribute_is_known_by_its_stream() -> None:
    beside = "def start(self):\n    self.context: object = torch.cuda.stream(self.stream)\n"
    body = "with self.context:\n    self.copy(0)\nself.done.complete(0)"
    assert operations(found(body, beside)) == [("copy", "stream"), ("signal+record", "")]


def test_what_is_written_by_a_subscript_is_copied() -> None:
    body = "self.pool.k_buffer[0][rows] = self.host[0]\nself.scratch[0] = 1\nself.done.complete(0)"
    assert [kind for kind, _ in operations(found(body))] == ["copy", "signal+record"]


def test_an_event_of_threads_is_no_fence() -> None:
    body = (
        "self.asked.wait(timeout=1)\nwith torch.cuda.stream(self.stream):\n    self.copy(0)\n    self.done.complete(0)"
    )
    assert "fence" not in {kind for kind, _ in operations(found(body))}
