"""`graph` against the micro-benchmarks of PyCG and Jarvis, scored by shared/pycg_score.py, as a ratchet.

They are other people's and not in the checkout. ``BUFGATE_CALL_GRAPHS`` names a folder that holds them: the
repositories ``PyCG`` and ``pycg-evaluation`` of vitsalis, and the folder ``Jarvis`` of pythonJaRvis' pages.

What is lost, we leave: truth that no run shows (``eval`` called by what it calls, ``main`` calling what a decorator
hides, a method that an override shadows; in Jarvis' set ``super().__init__`` that calls nothing, functions that are not
there), truths that contradict each other (``dicts/assign`` and ``nested``; methods of builtin types that are named for
some calls only), and what would need a heap that knows the order of calls (``new_direct_calls``).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

pytestmark = pytest.mark.corpus


class Bench(NamedTuple):
    """``cases`` and ``truth`` below the folder; how many are complete (nothing spurious), sound (nothing missing)."""

    cases: str
    truth: str | None
    mode: str
    complete: int
    sound: int


BENCHES = {
    "paper": Bench("pycg-evaluation/data/micro-benchmark", None, "paper", 112, 106),
    "repository": Bench("PyCG/micro-benchmark/snippets", None, "paper", 117, 114),
    "jarvis": Bench("Jarvis/dataset/micro_benchmark", "Jarvis/ground_truth/micro_benchmark", "strict", 120, 127),
}


@pytest.fixture(scope="session")
def folder() -> Path:
    named = os.environ.get("BUFGATE_CALL_GRAPHS")
    if not named:
        pytest.skip("BUFGATE_CALL_GRAPHS names no folder with the micro-benchmarks of PyCG and Jarvis")
    return Path(named)


@pytest.mark.parametrize("name", BENCHES)
def test_call_graphs_are_those_of_the_benchmark(name, folder, root, capsys):
    bench, scorer = BENCHES[name], root.parent / "shared" / "pycg_score.py"
    if not scorer.is_file():
        pytest.skip(f"{scorer} is not there: it lies beside the checkout, not in it")
    if not (folder / bench.cases).is_dir():
        pytest.skip(f"{folder / bench.cases} is not there")
    truth = ["--truth", str(folder / bench.truth)] if bench.truth else []
    command = [sys.executable, str(scorer), "--bench", str(folder / bench.cases), *truth, "--mode", bench.mode, "-v"]
    told = subprocess.run(
        [*command, f"{sys.executable} -m auditor graph --jobs 1 {{pkg}}"], capture_output=True, text=True, check=False
    ).stdout
    with capsys.disabled():
        print(f"\n{name}\n{told}")
    total = re.search(r"^TOTAL +\d+ +(\d+) +(\d+) .* (\d+)$", told, re.MULTILINE)
    assert total is not None, told
    complete, sound, failed = map(int, total.groups())
    assert failed == 0
    assert complete >= bench.complete
    assert sound >= bench.sound
