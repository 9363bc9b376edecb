"""One audit of a release as a process, kept in the cache folder while the auditor's own sources stay the same."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
INPUTS = ("auditor/**/*.py", "rules/**/*.toml", "rules/**/*.json", "reports/**/*.json")
"""What an answer depends on besides the audited release."""
STALE = 86_400.0
LIMIT = 3_000.0


@dataclass(frozen=True)
class Audit:
    """How the process ended, and the bytes that it wrote ("" if it wrote none)."""

    exit: int
    stderr: str
    text: str

    @functools.cached_property
    def report(self) -> dict[str, Any]:
        assert self.text, f"no report, exit status {self.exit}:\n{self.stderr[-2000:]}"
        return json.loads(self.text)  # type: ignore[no-any-return]


def audit_release(requirement: str) -> Audit:
    """Audit ``NAME==VERSION``, or give what an earlier run with the same auditor said. Other runs may be editing it:
    what was not made by one state of the sources is not kept."""
    state = sources_digest()
    kept = cache_home() / "audits" / state / f"{requirement}.json"
    if kept.is_file():
        return Audit(**json.loads(kept.read_text(encoding="utf-8")))
    audit = run_audit("--release", requirement, jobs=1)
    if audit.text and sources_digest() == state:
        _keep(kept, audit)
    return audit


def run_audit(*arguments: str, jobs: int, cwd: Path = ROOT) -> Audit:
    """Run ``bufgate check`` of this checkout in any folder, without times in the report."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "report.json")
        command = ["check", *arguments, "--no-timing", "--quiet", "--jobs", str(jobs), "-o", f"json:{file}"]
        done = bufgate(*command, cwd=cwd)
        text = file.read_text(encoding="utf-8") if file.is_file() else ""
    return Audit(done.returncode, done.stderr, text)


def bufgate(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run the command of this checkout, whatever is installed."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1"}
    command = [sys.executable, "-m", "auditor", *arguments]
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, encoding="utf-8", timeout=LIMIT, check=False
    )


def sources_digest() -> str:
    """Return a digest of everything in the checkout that an answer depends on."""
    digest = hashlib.sha256(sys.version.encode())
    for file in sorted({file for pattern in INPUTS for file in ROOT.glob(pattern)}):
        digest.update(f"\0{file.relative_to(ROOT)}\0".encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def cache_home() -> Path:
    """Return the folder that the command keeps releases in."""
    user = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("BUFGATE_CACHE") or Path(user, "bufgate"))


def short(name: str) -> str:
    """Return the last part of a qualified name."""
    return name.rpartition(".")[2]


def _keep(file: Path, audit: Audit) -> None:
    for old in file.parent.parent.glob("*"):
        if old != file.parent and time.time() - old.stat().st_mtime > STALE:
            shutil.rmtree(old, ignore_errors=True)
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_suffix(f".{os.getpid()}")
    beside.write_text(json.dumps({"exit": audit.exit, "stderr": audit.stderr, "text": audit.text}), encoding="utf-8")
    beside.replace(file)
