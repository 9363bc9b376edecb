# a program a line reads better than a program torn apart
"""The same input gives the same bytes: over hash seeds, orders of files, numbers of workers, where the tree lies."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from auditor.audit import Options, audit
from auditor.render import FORMATS, Page
from auditor.source import open_tree

ROOT = Path(__file__).resolve().parents[3]
ENGINE = ROOT / "fixtures" / "engine"
SCRIPT = """
import sys
from pathlib import Path
from auditor.audit import Options, audit
from auditor.render import FORMATS, Page
from auditor.source import open_tree

report = audit(open_tree([Path(sys.argv[1])]), Options(jobs=int(sys.argv[2]), timing=False))
sys.stdout.write(FORMATS["json"](report, Page()))
"""


def json_of(folder: Path, jobs: int = 1) -> str:
    return FORMATS["json"](audit(open_tree([folder]), Options(jobs=jobs, timing=False)), Page())


def in_a_process(folder: Path, seed: int, jobs: int = 1) -> str:
    command = [sys.executable, "-c", SCRIPT, str(folder), str(jobs)]
    environment = {"PYTHONHASHSEED": str(seed), "PATH": "/usr/bin:/bin"}
    return subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def expected() -> str:
    return json_of(ENGINE)


@pytest.mark.parametrize("seed", range(5))
def test_hash_seeds(seed: int, expected: str) -> None:
    assert in_a_process(ENGINE, seed) == expected


def test_workers(expected: str) -> None:
    assert in_a_process(ENGINE, 0, jobs=3) == expected


@pytest.mark.parametrize("seed", range(3))
def test_order_of_files_on_disk(tmp_path: Path, seed: int, expected: str) -> None:
    """Files are made in another order, so that a listing of the folder gives them in another order."""
    files = sorted(path for path in ENGINE.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    random.Random(seed).shuffle(files)
    copy = tmp_path / ENGINE.name
    for file in files:
        target = copy / file.relative_to(ENGINE)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
    assert json_of(copy) == expected


@pytest.mark.parametrize("seed", range(3))
def test_order_in_which_files_are_given(seed: int, expected: str) -> None:
    tree = open_tree([ENGINE])
    files = list(tree.files)
    random.Random(seed).shuffle(files)
    shuffled = replace(tree, files=tuple(files))
    assert FORMATS["json"](audit(shuffled, Options(jobs=1, timing=False)), Page()) == expected


def test_twice_in_one_process(expected: str) -> None:
    """Nothing is left over from a run."""
    assert json_of(ENGINE) == expected
