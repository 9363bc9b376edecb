"""PyTorch on the simulated device: values are right when they are due, and only what CUDA orders is ordered."""

# ruff: noqa: E402 -- what needs PyTorch is imported once it is known to be there

import subprocess
import sys
from functools import partial

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from hypothesis import given, settings
from hypothesis import strategies as st

from cuda_probe.dispatch import Machine, byte_ranges, running
from cuda_probe.sim import Earliest, Latest, Random

SCHEDULES = [Latest, Earliest, partial(Random, 1), partial(Random, 2)]


def test_the_core_needs_no_torch():
    """Streams, clocks, labels and evidence import without PyTorch."""
    program = "import sys; import cuda_probe.sim, cuda_probe.labels; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


# ---------------------------------------------------------------- memory


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_the_bytes_of_a_view_are_those_that_it_shows(data):
    """Slices, steps and transposes of a tensor, against writing through the view."""
    base = torch.zeros(4, 5, 6, dtype=torch.int16)
    view = base
    for dim in range(3):
        low = data.draw(st.integers(0, base.shape[dim] - 1))
        high = data.draw(st.integers(low + 1, base.shape[dim]))
        view = view.narrow(dim, low, high - low)[
            (slice(None),) * dim + (slice(None, None, data.draw(st.integers(1, 3))),)
        ]
    view = view.permute(*data.draw(st.permutations(range(3))))
    view.fill_(-1)
    written = [index for index, byte in enumerate(base.flatten().view(torch.uint8).tolist()) if byte]
    assert [byte for low, high in byte_ranges(view) for byte in range(low, high)] == written


def test_tensors_of_cuda_are_in_the_memory_of_the_device():
    """And say so; views too, tensors of the host not."""
    machine = Machine()
    with running(machine):
        made = torch.zeros(4, 2, device="cuda")
        assert made.is_cuda
        assert made.device == torch.device("cuda", 0)
        assert made[1:].is_cuda
        assert torch.zeros_like(made).is_cuda
        assert torch.ones(2, device=made.device).is_cuda
        assert not torch.zeros(4).is_cuda
        assert torch.zeros(4).device == torch.device("cpu")
    assert machine.memory.holds(made)


# ---------------------------------------------------------------- values


def program(place):
    """A little of everything: factories, views, in-place, gather, scatter, reductions, copies, control flow on
    values."""
    torch.manual_seed(0)
    host = torch.arange(24.0).reshape(6, 4)
    x = host.to(place)
    y = torch.zeros(6, 4, device=place)
    y[torch.tensor([5, 1])] = x[torch.tensor([0, 2])] * 2
    y[0].add_(x[1])
    z = torch.cat([x, y]).softmax(-1)
    values, positions = z.sum(-1).topk(3)
    if (y > 10).any():
        z = z + 1
    return [t.cpu() for t in (x, y, z, values, positions)] + [y.nonzero().cpu(), torch.tensor(z.sum().item())]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_program_on_one_stream_gives_what_it_gives_without_us(schedule):
    """Lazily done work has the same values, and nothing races."""
    machine = Machine(schedule())
    with running(machine):
        seen = program("cuda")
    expected = program("cpu")
    assert all(torch.equal(one, other) for one, other in zip(seen, expected, strict=True))
    assert not machine.device.races


@pytest.mark.parametrize("gated", [False, True])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_load_on_another_stream(schedule, gated):
    """The example of everything: a copy on a load stream, a kernel on the current one, a wait or none."""
    machine = Machine(schedule())
    with running(machine):
        buffer = torch.full((8, 4), -7.0, device="cuda")
        host = torch.arange(32.0).reshape(8, 4).pin_memory()
        load, arrived = torch.cuda.Stream(), torch.cuda.Event()
        with torch.cuda.stream(load):
            buffer.copy_(host, non_blocking=True)
            arrived.record()
        if gated:
            torch.cuda.current_stream().wait_event(arrived)
        seen = (buffer * 1).cpu()
    assert [race.kind for race in machine.device.races] == ([] if gated else ["RAW", "RAW"])
    if gated or schedule is Earliest:
        assert torch.equal(seen, host)
    elif schedule is Latest:
        assert (seen == -7).all()


def test_rows_of_a_gather_and_a_scatter_do_not_meet():
    """Loads of some rows and reads of others are ordered by nothing and race with nothing."""
    machine = Machine()
    with running(machine):
        buffer = torch.zeros(8, 4, device="cuda")
        with torch.cuda.stream(torch.cuda.Stream()):
            buffer[torch.tensor([0, 1, 2])] = torch.ones(3, 4, device="cuda")
        buffer[torch.tensor([5, 6])].cpu()
        assert not machine.device.races
        buffer[torch.tensor([6, 2])].cpu()
    assert [race.kind for race in machine.device.races] == ["RAW"]


# ---------------------------------------------------------------- who waits for whom


def test_a_blocking_copy_lets_the_host_wait():
    """``copy_`` without ``non_blocking`` between host and device is over when it returns."""
    machine = Machine()
    with running(machine):
        buffer = torch.zeros(8, device="cuda")
        with torch.cuda.stream(torch.cuda.Stream()):
            buffer.copy_(torch.ones(8))
        assert buffer.tolist() == [1.0] * 8
    assert not machine.device.races


def test_pageable_memory_is_staged_before_the_call_returns():
    """The host may overwrite it at once; the copy has what was there."""
    machine = Machine()
    with running(machine):
        host = torch.ones(8)
        buffer = host.to("cuda", non_blocking=True)
        host.zero_()
        assert buffer.tolist() == [1.0] * 8


def test_pinned_memory_that_is_refilled_too_early_is_a_race():
    """The copy reads it when it runs: write after read, on the side of the host."""
    machine = Machine()
    with running(machine):
        host = torch.ones(8).pin_memory()
        buffer = host.to("cuda", non_blocking=True)
        host.zero_()
        assert buffer.tolist() == [0.0] * 8
    assert [race.kind for race in machine.device.races] == ["WAR", "WAR"]


def test_a_copy_to_pinned_memory_is_not_waited_for():
    """Whoever reads the host's side has to wait for it."""
    machine = Machine()
    with running(machine):
        buffer = torch.ones(8, device="cuda")
        host = torch.zeros(8).pin_memory()
        host.copy_(buffer, non_blocking=True)
        assert host.sum() == 0
        torch.cuda.synchronize()
        assert host.sum() == 8


def test_operands_of_the_host_are_taken_as_they_are_at_the_call():
    """An index that is reused afterwards does not change what was launched."""
    machine = Machine()
    with running(machine):
        buffer, rows = torch.zeros(4, device="cuda"), torch.tensor([1])
        buffer[rows] = 5.0
        rows.fill_(3)
        assert buffer.tolist() == [0.0, 5.0, 0.0, 0.0]


def test_memory_can_be_told_of_its_streams():
    """``record_stream`` is for an allocator that gives memory out again; ours keeps it."""
    with running(Machine()):
        torch.zeros(4, device="cuda").record_stream(torch.cuda.Stream())


def test_threads_run_on_the_machine_too():
    """A loader thread that waits for its stream and then tells is ordered before who was told."""
    machine = Machine()
    with running(machine):
        import queue
        import threading

        buffer, told = torch.zeros(8, device="cuda"), queue.Queue[bool]()

        def load():
            with torch.cuda.stream(torch.cuda.Stream()) as stream:
                buffer.add_(1)
                stream.synchronize()
            told.put(True)

        thread = threading.Thread(target=load)
        thread.start()
        told.get()
        assert buffer.tolist() == [1.0] * 8
        thread.join()
    assert not machine.device.races


def test_a_graph_of_torch_is_replayed_without_its_gates():
    """``torch.cuda.graph`` captures; the replay reads what is there."""
    machine = Machine()
    with running(machine, available=True):
        assert torch.cuda.is_available()
        buffer, out = torch.zeros(4, device="cuda"), torch.zeros(4, device="cuda")
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            assert torch.cuda.is_current_stream_capturing()
            torch.mul(buffer, 1, out=out)
        with torch.cuda.stream(torch.cuda.Stream()):
            buffer.fill_(1)
        graph.replay()
        assert out.tolist() == [0.0] * 4
    assert [race.kind for race in machine.device.races] == ["RAW"]


def test_torch_is_as_before_afterwards():
    """Nothing of the machine stays."""
    before = torch.cuda.Stream, torch.cpu.Event, torch.cuda.is_available()
    with running(Machine(), available=True):
        assert torch.cuda.Stream is not before[0]
    assert (torch.cuda.Stream, torch.cpu.Event, torch.cuda.is_available()) == before
