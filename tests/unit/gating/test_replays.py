"""A graph replay runs no Python: what the recorded code waited for must be waited for again before the replay."""

import pytest

from tests.unit.gating.programs import GATED, READ, answer, engine, judged

LAST = "self.pool.layer_transfer_counter.wait_until(self.pool.layer_num - 1)"

CHOICE = """
        self.backend = Full(self.graph) if full else Eager()
        self.is_full = isinstance(self.backend, Full)
"""
BACKENDS = """
class Full:
    def __init__(self, graph):
        self.graph = graph
    def replay(self):
        self.graph.replay()  # inside

class Eager:
    def replay(self):
        return None
"""


def runner(replay: str, *, recorded: str = "q @ self.pool.get_key_buffer(layer_id)", rest: str = "") -> str:
    """A runner that records ``recorded`` and whose ``execute`` is ``replay``."""
    return f"""
class Runner:
    def __init__(self, full=True):
        self.pool = KeyPool(4)
        Controller(self.pool)
        self.graph = torch.cuda.CUDAGraph()
{CHOICE if "self.backend" in replay else ""}
    def capture(self, layer_id, q):
        with torch.cuda.graph(self.graph):
            self.out = {recorded}
    def execute(self, flag=False):
        {replay}
{rest}
{BACKENDS if "self.backend" in replay else ""}
"""


def lines(*text: str) -> str:
    return "\n        ".join(text)


REPLAY = "self.graph.replay()  # here"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (REPLAY, "replay-skips-gate"),
        (lines(LAST, REPLAY), "gated"),
        (lines(REPLAY, LAST), "replay-skips-gate"),
        (lines("if flag:", f"    {LAST}", REPLAY), "replay-skips-gate"),
        (lines("if self.pool.layer_transfer_counter is not None:", f"    {LAST}", REPLAY), "gated"),
        (lines("self.pool.layer_transfer_counter.wait_until(0)", REPLAY), "replay-skips-gate"),
        (lines("self.pool.layer_transfer_counter.wait_until(flag)", REPLAY), "unknown: layer-unrelated"),
    ],
)
def test_the_wait_for_the_last_layer_comes_before_the_replay_on_every_path(text: str, expected: str) -> None:
    assert answer(GATED, runner(text)) == expected


def test_the_wait_may_be_made_by_a_caller() -> None:
    rest = f"    def step(self):\n        {LAST}\n        self.execute()"
    assert answer(GATED, runner(REPLAY, rest=rest)) == "gated"


def test_one_caller_that_does_not_wait_is_told() -> None:
    rest = f"    def step(self):\n        {LAST}\n        self.execute()\n    def other(self):\n        self.execute()"
    assert answer(GATED, runner(REPLAY, rest=rest)) == "replay-skips-gate"


def test_a_wait_made_while_recording_does_not_count() -> None:
    rest = "    def step(self, q):\n        self.capture(3, q)\n        self.execute()"
    assert answer(GATED, runner(REPLAY, rest=rest)) == "replay-skips-gate"


@pytest.mark.parametrize(
    ("test", "expected"),
    [("self.is_full", "gated"), ("isinstance(self.backend, Eager)", "replay-skips-gate")],
)
def test_a_wait_for_one_class_counts_where_that_class_replays(test: str, expected: str) -> None:
    code = runner(lines(f"if {test}:", f"    {LAST}", "self.backend.replay()"))
    assert answer(GATED, code, "inside") == expected


def test_a_first_value_that_is_replaced_says_nothing() -> None:
    code = runner(lines("if self.is_full:", f"    {LAST}", "self.backend.replay()"))
    first = code.replace("        self.backend = Full", "        self.is_full = False\n        self.backend = Full")
    assert first != code
    assert answer(GATED, first, "inside") == "gated"


def test_a_test_that_is_set_twice_says_nothing() -> None:
    rest = "    def forget(self):\n        self.is_full = False"
    code = runner(lines("if self.is_full:", f"    {LAST}", "self.backend.replay()"), rest=rest)
    assert answer(GATED, code, "inside") == "replay-skips-gate"


LENT = lines(
    "def body():",
    "    return self.graph.replay()  # here",
    "before = self.network.forward",
    LAST,
    "self.network.forward = body",
    "try:",
    "    self.network.run()",
    "finally:",
    "    self.network.forward = before",
)


def test_a_function_that_is_lent_runs_while_it_is_lent() -> None:
    assert answer(GATED, runner(LENT)) == "gated"
    assert answer(GATED, runner(LENT.replace(LAST, "pass"))) == "replay-skips-gate"


def test_a_function_that_is_not_given_back_may_run_at_any_time() -> None:
    kept = LENT.replace("self.network.forward = before", "pass")
    assert answer(GATED, runner(kept)) == "replay-skips-gate"


def test_the_eager_read_keeps_its_own_verdict() -> None:
    code = runner(REPLAY, recorded="q @ self.pool.get_key_buffer(layer_id)  # read")
    found = judged(engine(GATED, code)).bindings("read")
    assert {(one.mode, one.verdict) for one in found} == {("eager", "gated"), ("replay", "ungated")}


def test_a_graph_that_reads_no_pool_is_no_site() -> None:
    found = judged(engine(GATED, runner(REPLAY, recorded="q @ q")))
    assert not any(one.name == "replay" for one in found.judgement.sites)


def test_what_no_python_gates_is_told_once() -> None:
    """An accessor without a gate is the finding; that its replay has none either is no second one."""
    assert {one.check for one in judged(engine(READ, runner(REPLAY))).findings} == {"ungated-access"}


def test_a_network_whose_code_is_hidden_reads_every_pool() -> None:
    code = runner(REPLAY, recorded="self.layer_model.forward(q)")
    finding = judged(engine(GATED, code)).finding()
    assert (finding.check, finding.mode, finding.function) == ("replay-skips-gate", "replay", "m.Runner.execute")


def test_the_finding_is_where_the_way_enters_the_runner() -> None:
    rest = "    def step(self):\n        self.execute()"
    code = runner(REPLAY, rest=rest) + "\n\ndef serve():\n    Runner().step()\n"
    assert judged(engine(GATED, code)).finding().function == "m.Runner.step"
