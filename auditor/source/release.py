"""Fetch a release and keep only its Python sources. Nothing of it is installed, built or run.

pip downloads the wheel (never a source distribution: building one runs its code) into a scratch folder beside the
result; a finished release appears by one rename, so a killed run leaves none and two runs at once do not meet.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from auditor.errors import ReleaseUnavailable, UsageError
from auditor.store import make_cache

if TYPE_CHECKING:
    from subprocess import CompletedProcess
    from zipfile import ZipFile, ZipInfo

MEMBER_LIMIT = 16_000_000
"""Bytes of one source; above the limit of ``open_tree``, which names what it leaves out."""
TOTAL_LIMIT = 1_000_000_000
"""Bytes of all sources of one wheel: fifteen times SGLang 0.5.23."""
_DEEPEST = 100
"""Folders: what removes the scratch folder afterwards recurses."""

_NAME = re.compile(r"[A-Z0-9](?:[A-Z0-9._-]*[A-Z0-9])?", re.ASCII | re.IGNORECASE)
_VERSION = re.compile(
    r"v?(?:\d+!)?\d+(?:\.\d+)*(?:[-_.]?(?:a|b|c|rc|alpha|beta|pre|preview)[-_.]?\d*)?"
    r"(?:-\d+|[-_.]?(?:post|rev|r)[-_.]?\d*)?(?:[-_.]?dev[-_.]?\d*)?(?:\+[A-Z0-9]+(?:[-_.][A-Z0-9]+)*)?",
    re.ASCII | re.IGNORECASE,
)
_ABANDONED = 86_400.0  # seconds after which a scratch folder belongs to a killed run
_FOREIGN_PYTHONS = ("3.12", "3.11", "3.10", "3.13")
_GLIBC_MINORS = (39, 35, 34, 31, 28, 27, 24, 17)
_LINUX = (*(f"manylinux_2_{minor}" for minor in _GLIBC_MINORS), "manylinux2014", "manylinux1", "linux")
_OFFLINE = "connection broken by"


@dataclass(frozen=True, slots=True)
class _Release:
    name: str
    version: str

    def folder_names(self) -> tuple[str, ...]:
        """As the name is normalised (PEP 503), and as it was written."""
        normal = re.sub(r"[-_.]+", "-", self.name).lower()
        return (f"{normal}-{self.version}", f"{self.name}-{self.version}")


def fetch_release(requirement: str, *, cache: Path | None = None) -> Path:
    """Return the folder with the Python sources of ``NAME==VERSION``; fetch them where no earlier run did.

    Args:
        cache: the cache folder; by default ``cache_home()``.
    """
    release = _parsed(requirement)
    home = cache or cache_home()
    if known := _known(release, home):
        return known
    try:
        with _scratch(home) as scratch:
            sources = scratch / "sources"
            _unpack(_download(requirement, release, scratch), sources)
            return _settle(sources, home / "releases" / release.folder_names()[0])
    except OSError as error:
        what = (error.strerror or str(error)).lower()
        raise ReleaseUnavailable(
            f"cannot keep {requirement} in {home}: {what}. Make room or set BUFGATE_CACHE to another folder."
        ) from error


def release_folder(requirement: str, *, cache: Path | None = None) -> Path | None:
    """Return the folder of a release that is already there, None where ``fetch_release`` would have to fetch it."""
    return _known(_parsed(requirement), cache or cache_home())


def _parsed(requirement: str) -> _Release:
    name, _, version = requirement.partition("==")
    if not _NAME.fullmatch(name) or not _VERSION.fullmatch(version):
        raise UsageError(f"{requirement!r} is no release. Write NAME==VERSION, as in sglang==0.5.23.")
    return _Release(name, version)


def cache_home(environment: Mapping[str, str] = os.environ) -> Path:
    """Return where releases are kept: $BUFGATE_CACHE, $XDG_CACHE_HOME/bufgate or ~/.cache/bufgate."""
    if chosen := environment.get("BUFGATE_CACHE"):
        return Path(chosen)
    return _user_cache(environment) / "bufgate"


def _user_cache(environment: Mapping[str, str]) -> Path:
    return Path(environment.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _known(release: _Release, home: Path) -> Path | None:
    """A finished folder in the cache, or in a folder of corpora that someone fetched before."""
    chosen = os.environ.get("BUFGATE_CORPORA")
    corpora = Path(chosen) if chosen else _user_cache(os.environ) / "bufgate-corpora"
    candidates = (home_ / name for home_ in (home / "releases", corpora) for name in release.folder_names())
    return next((folder for folder in candidates if folder.is_dir()), None)


@contextmanager
def _scratch(home: Path) -> Iterator[Path]:
    """A folder on the file system of the cache, gone afterwards."""
    import tempfile

    make_cache(home)
    releases = home / "releases"
    releases.mkdir(exist_ok=True)
    _sweep(releases)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=releases) as folder:
        yield Path(folder)


def _sweep(releases: Path) -> None:
    """Remove the scratch folders of killed runs."""
    import shutil
    import time

    for left in releases.glob(".fetch-*"):
        try:
            old = time.time() - left.stat().st_mtime > _ABANDONED
        except FileNotFoundError:
            continue
        if old:
            shutil.rmtree(left, ignore_errors=True)


def _download(requirement: str, release: _Release, scratch: Path) -> Path:
    """Return the wheel: the one for this interpreter, else one for Linux on another Python."""
    last = ""
    for options in _attempts():
        done = _run_pip(["download", *_PIP_OPTIONS, *options, "-d", str(scratch), "--", requirement], scratch)
        if done.returncode == 0 and (wheels := sorted(scratch.glob("*.whl"))):
            return wheels[0]
        last = _said(done.stderr) or f"pip ended with status {done.returncode}"
        if _hopeless(done.stderr):
            break
    raise ReleaseUnavailable(
        f"cannot fetch {release.name} {release.version}: {last}. "
        "Look at the name and the version, or give the path of an unpacked copy."
    )


_PIP_OPTIONS = ("--no-deps", "--only-binary=:all:", "-q", "--no-input", "--disable-pip-version-check", "--retries=2")


def _attempts() -> Iterator[tuple[str, ...]]:
    yield ()
    platforms = [f"--platform={linux}_{machine}" for machine in ("x86_64", "aarch64") for linux in _LINUX]
    for python in _FOREIGN_PYTHONS:
        yield (*platforms, f"--python-version={python}", "--implementation=cp")


def _hopeless(stderr: str) -> bool:
    """Whether asking for another platform cannot help: no network, no pip, no room."""
    return _OFFLINE in stderr or not ("No matching distribution" in stderr or "not a supported wheel" in stderr)


def _run_pip(arguments: list[str], folder: Path) -> CompletedProcess[str]:
    """Run pip in a folder of ours: ``-m`` looks for modules in the current one, which may be the audited tree."""
    import subprocess

    return subprocess.run(
        [sys.executable, "-m", "pip", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd=folder,
        encoding="utf-8",
        errors="replace",
        check=False,
    )


def _said(text: str) -> str:
    """The last line of pip, and what its warnings mean."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    shown = next((line for line in reversed(lines) if line.startswith("ERROR:")), lines[-1] if lines else "")
    unreachable = " (the package index could not be reached)" if _OFFLINE in text else ""
    return shown.removeprefix("ERROR:").strip().rstrip(".") + unreachable


def _unpack(wheel: Path, target: Path) -> None:
    """Write the ``*.py`` members of a wheel below ``target``; what would land elsewhere or is a link is left out."""
    import zipfile

    try:
        with zipfile.ZipFile(wheel) as archive:
            members = [member for member in archive.infolist() if _is_source(member)]
            if not members:
                raise ReleaseUnavailable(f"{wheel.name} holds no Python sources. Audit a release that does.")
            _require_bounded(wheel.name, members)
            for member in members:
                _write_member(archive, member, target)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError) as error:
        raise ReleaseUnavailable(f"{wheel.name} is damaged: {error}. Fetch it again.") from error


def _is_source(member: ZipInfo) -> bool:
    path = PurePosixPath(member.filename)
    regular = stat.S_IFMT(member.external_attr >> 16) in (0, stat.S_IFREG)
    inside = not path.is_absolute() and ".." not in path.parts and not re.search(r"[\\:\0]", member.filename)
    return member.filename.endswith(".py") and regular and inside


def _require_bounded(wheel: str, members: list[ZipInfo]) -> None:
    """Refuse a wheel made to fill the disk. zipfile reads no more of a member than its header says."""
    if any(member.filename.count("/") > _DEEPEST for member in members):
        raise ReleaseUnavailable(f"{wheel} holds sources more than {_DEEPEST} folders deep; not unpacked.")
    for member in members:
        if member.file_size > MEMBER_LIMIT:
            raise ReleaseUnavailable(
                f"{wheel} holds a source of {member.file_size} bytes, above {MEMBER_LIMIT}; not unpacked."
            )
    if sum(member.file_size for member in members) > TOTAL_LIMIT:
        raise ReleaseUnavailable(f"{wheel} holds more than {TOTAL_LIMIT} bytes of sources; not unpacked.")


def _write_member(archive: ZipFile, member: ZipInfo, target: Path) -> None:
    out = target.joinpath(*PurePosixPath(member.filename).parts)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(archive.read(member))


def _settle(sources: Path, final: Path) -> Path:
    """Put a finished folder in its place by one rename; where another run was faster, its folder stands."""
    try:
        sources.rename(final)
    except OSError:
        if not final.is_dir():
            raise
    return final
