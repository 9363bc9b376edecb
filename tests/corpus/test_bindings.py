"""Receivers against hand-read truth (shared/truth/bindings.json), as a ratchet: today's numbers may only grow."""

from __future__ import annotations

import json

import pytest

from tests.corpus.audits import short

pytestmark = pytest.mark.corpus

SOUND, EXACT = 27, 27
"""Of 30 sites: those that contain every class of run time, and those that also stay within what flow can admit."""


@pytest.fixture
def truth(root):
    file = root.parent / "shared" / "truth" / "bindings.json"
    if not file.is_file():
        pytest.skip(f"{file} is not there: the truth data lies beside the checkout, not in it")
    return json.loads(file.read_text(encoding="utf-8"))["sites"]


@pytest.mark.parametrize("version", ["0.5.23"])
def test_receivers_are_those_of_run_time(audit, version, truth, capsys):
    listed = {(site["path"], site["line"], site["name"]): site for site in audit(version).report["sites"]}
    rows = [(case, *_judged(case, listed.get((case["file"], case["line"], case["method"])))) for case in truth]
    sound, exact = sum(row[1] for row in rows), sum(row[2] for row in rows)
    with capsys.disabled():
        print(f"\nbindings of sglang {version}: {sound} of {len(rows)} sound, {exact} exact (floor: {SOUND}, {EXACT})")
        for case, is_sound, is_exact, bound in rows:
            if not is_exact:
                word = "sound, too wide" if is_sound else "wrong"
                print(f"  {word:15}  #{case['id']} {case['file']}:{case['line']} {case['method']}: {bound}")
    assert sound >= SOUND
    assert exact >= EXACT


def _judged(case: dict, site: dict | None) -> tuple[bool, bool, str]:
    """Whether the answer is sound and exact, and the answer."""
    if site is None:
        return False, False, "no site"
    bound = {short(name) for binding in site["bindings"] for name in binding["classes"]}
    reasons = {binding["reason"] for binding in site["bindings"]}
    shown = ", ".join(sorted(bound)) or ", ".join(sorted(reasons))
    if case["kind"] != "pool" and reasons == {"not-a-pool"}:
        return True, True, shown
    wanted, admitted = ({short(name) for name in case[key]} for key in ("runtime_classes", "flow_upper"))
    resolved = all(binding["classes"] for binding in site["bindings"] if binding["verdict"] == "unknown")
    sound = wanted <= bound and resolved
    return sound, sound and bound <= admitted, shown
