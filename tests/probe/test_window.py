"""The window of a race: a longer load makes stale reads more frequent; the gate keeps them at none."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from cuda_probe.sim import Access, Device, Timed, Window, schedule_named


def program(schedule, *, gated):
    """A load on one stream, a read on another; returns whether the read came after the load."""
    device, seen, memory = Device(schedule), [], {"loaded": False}
    load, read = device.new_stream(), device.new_stream()
    device.launch("load", lambda: memory.update(loaded=True), [Access(1, ((0, 1000),), True)], kind="copy", stream=load)
    event = device.new_event()
    event.record(load)
    if gated:
        event.wait(read)
    device.launch("read", lambda: seen.append(memory["loaded"]), [Access(1, ((0, 1000),), False)], stream=read)
    device.synchronize()
    return seen[0]


@pytest.mark.parametrize(
    ("window", "fresh"),
    [(Window(0), True), (Window(100), False), (Window(0, bandwidth=1), False), (Window(0, scale=1e6), False)],
)
def test_a_read_is_stale_where_the_load_takes_longer_than_the_launches_between(window, fresh):
    """By its delay, by the bandwidth, by how much is loaded; behind a gate it never is."""
    assert {program(Timed(seed, window), gated=False) for seed in range(20)} == {fresh}
    assert all(program(Timed(seed, window), gated=True) for seed in range(20))


def test_a_schedule_with_a_clock_has_a_name_from_which_it_is_made_again():
    """And is deterministic; a name that cannot be read is refused."""
    schedule = Timed(7, Window(5, 100, 2))
    assert schedule.name == "timed:7:5:100:2"
    again = schedule_named(schedule.name)
    assert isinstance(again, Timed)
    assert (again.seed, again.window) == (7, Window(5, 100, 2))
    for wrong in ("timed:7", "timed:x:5", "timed:7:1:2:3:4"):
        with pytest.raises(ValueError, match="cannot be read"):
            schedule_named(wrong)


def test_the_sweep_is_told_as_a_table_and_drawn(tmp_path: Path, monkeypatch, capsys):
    """On the miniature engine: none of the small and quick loads is overtaken, all of the large and slow ones are."""
    pytest.importorskip("torch", reason="PyTorch is not installed")
    from cuda_probe import window
    from cuda_probe.cli import main
    from cuda_probe.window import swept
    from tests.probe.test_cli import ENGINE, UNGATED, plan_of

    grid = ((0.0, 100.0), (1 << 10, 1 << 24), 2)
    monkeypatch.setattr(window, "swept", lambda size, attempt: swept(size, attempt, *grid))
    plan, picture = str(plan_of(tmp_path, UNGATED)), tmp_path / "window.svg"
    assert main(["sweep-window", plan, UNGATED[2], "--tree", ENGINE, "--execute", "-o", str(picture)]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert rows[0] == ["bytes", "0us", "100us"]
    assert rows[-1] == ["16", "MiB", "100%", "100%"]
    assert rows[1][2] == "0%"
    assert ElementTree.fromstring(picture.read_text()).tag.endswith("svg")
    assert main(["sweep-window", plan, "y", "--tree", ENGINE, "--execute"]) == 2
    assert "has no experiment 'y'" in capsys.readouterr().err
