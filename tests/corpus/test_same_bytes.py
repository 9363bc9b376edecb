"""The same release gives the same bytes: from two runs, with one and two processes, from another folder."""

from __future__ import annotations

import pytest

from tests.corpus.audits import run_audit

pytestmark = pytest.mark.corpus


@pytest.mark.parametrize("version", ["0.5.10.post1"])
def test_two_runs_one_and_two_processes_another_folder(audit, version, tmp_path):
    here = audit(version)
    elsewhere = run_audit("--release", f"sglang=={version}", jobs=2, cwd=tmp_path)
    assert elsewhere.exit == here.exit
    assert elsewhere.text == here.text
