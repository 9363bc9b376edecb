"""What is shipped is what is in the tree, and every way to install it works.

One worker builds once (xdist_group); everything here needs PyPI for the build backend and the dependencies.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

import auditor

pytestmark = [pytest.mark.packaging, pytest.mark.network, pytest.mark.xdist_group("packaging")]

VERSION = f"bufgate {auditor.__version__}"
DATA = {".toml", ".json", ".j2", ".css", ".js", ".svg", ".md"}
"""What rule packs, schemas and templates may be. A report that somebody wrote into reports/ is none of these."""


@dataclass(frozen=True)
class Built:
    wheel: Path
    wheel_from_sdist: Path
    sdist: Path


@pytest.fixture(scope="session")
def tree(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout: editing while the tests run does no harm. Byte code comes along, it must not ship."""
    copy = tmp_path_factory.mktemp("tree") / "bufgate"
    left_out = shutil.ignore_patterns(".git", ".venv", "out", "dist", ".*_cache", ".hypothesis")
    return Path(shutil.copytree(root, copy, ignore=left_out))


@pytest.fixture(scope="session")
def built(tree: Path, pypi: None, tmp_path_factory: pytest.TempPathFactory) -> Built:
    direct, by_sdist = tmp_path_factory.mktemp("direct"), tmp_path_factory.mktemp("by-sdist")
    run(sys.executable, "-m", "build", "-q", "--wheel", "-o", direct, tree)
    run(sys.executable, "-m", "build", "-q", "-o", by_sdist, tree)
    (wheel,), (wheel_from_sdist,), (sdist,) = direct.glob("*.whl"), by_sdist.glob("*.whl"), by_sdist.glob("*.tar.gz")
    return Built(wheel=wheel, wheel_from_sdist=wheel_from_sdist, sdist=sdist)


@pytest.fixture(scope="session")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an empty virtual environment."""
    folder = tmp_path_factory.mktemp("venv")
    venv.create(folder, with_pip=True)
    return folder / "bin" / "python"


def run(*command: str | Path, cwd: Path | None = None, **environment: str) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_wheel_holds_exactly_the_packages_and_their_data(tree: Path, built: Built) -> None:
    code = [file for package in ("auditor", "cuda_probe") for file in (tree / package).rglob("*.py")]
    data = [file for kind in ("rules", "reports") for file in (tree / kind).rglob("*") if file.suffix in DATA]
    data.append(tree / "docs" / "checks.md")
    expected = {file.relative_to(tree).as_posix() for file in code}
    expected |= {f"auditor/_data/{file.relative_to(tree).as_posix()}" for file in data}
    expected |= {file.relative_to(tree).as_posix() for file in (tree / "cuda_probe").rglob("*.cu")}
    expected |= {"auditor/py.typed"} if (tree / "auditor/py.typed").is_file() else set()
    info = f"bufgate-{auditor.__version__}.dist-info"
    expected |= {f"{info}/{file}" for file in ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")}
    assert set(zipfile.ZipFile(built.wheel).namelist()) == expected


def test_wheel_built_from_the_sdist_is_the_same(built: Built) -> None:
    assert contents(built.wheel_from_sdist) == contents(built.wheel)


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {member: archive.read(member) for member in archive.namelist()}


def test_sdist_brings_what_the_tests_need(built: Built) -> None:
    with tarfile.open(built.sdist) as archive:
        top = {Path(member).parts[1] for member in archive.getnames() if len(Path(member).parts) > 1}
    needed = {"auditor", "cuda_probe", "rules", "reports", "fixtures", "tests", "docs", "Makefile", "pyproject.toml"}
    assert needed | {"README.md", "LICENSE"} <= top


def test_wheel_declares_four_dependencies_and_its_license(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as archive:
        metadata = archive.read(f"bufgate-{auditor.__version__}.dist-info/METADATA").decode().splitlines()
    needs = [line for line in metadata if line.startswith("Requires-Dist:") and "extra ==" not in line]
    assert {line.split()[1].split(">")[0] for line in needs} == {"click", "jinja2", "libcst", "networkx"}
    assert "License-Expression: Apache-2.0" in metadata


def test_installed_wheel_runs_and_reads_its_rules(built: Built, python: Path, tmp_path: Path) -> None:
    run(python, "-m", "pip", "install", "-q", built.wheel)
    assert run(python.with_name("bufgate"), "--version", cwd=tmp_path).strip() == VERSION
    assert "sglang" in packs(python, tmp_path)
    assert "# bad" in run(python.with_name("bufgate"), "explain", "noop-gate", cwd=tmp_path)


def packs(python: Path, folder: Path) -> str:
    """What `doctor` says of the rule packs, outside of any checkout."""
    (folder / "empty.py").touch()
    return run(python.with_name("bufgate"), "doctor", cwd=folder)


@pytest.mark.usefixtures("pypi")
def test_editable_install_runs_and_reads_the_rules_of_the_checkout(tree: Path, python: Path, tmp_path: Path) -> None:
    run(python, "-m", "pip", "install", "-q", "-e", tree)
    assert run(python.with_name("bufgate"), "--version", cwd=tmp_path).strip() == VERSION
    assert str(tree / "auditor") in run(python, "-c", "import auditor; print(auditor.__file__)", cwd=tmp_path)
    assert "sglang" in packs(python, tmp_path)


def test_checkout_runs_without_being_installed(tree: Path) -> None:
    """`python -m auditor` needs only the dependencies."""
    assert run(sys.executable, "-m", "auditor", "--version", cwd=tree).strip() == VERSION
