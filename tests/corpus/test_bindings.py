"""Receivers against hand-read truth (shared/truth/bindings.json), as a ratchet: today's numbers may only grow.

*Sound*: every class of run time and none that flow cannot admit. *Tight*: those of run time alone. *Dispatch*: the
implementations that can run are those of run time. A receiver that is no pool is right where the site says so.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest

from tests.corpus.audits import short

pytestmark = pytest.mark.corpus

SOUND, TIGHT, DISPATCH = 30, 27, 27
"""Of 30 sites."""
WIDTH = 1.5
"""The most that the answers may be wider than run time, on average."""
SPAN = 4
"""How many lines below its first one the name of a call may stand."""


class Row(NamedTuple):
    """One site: what is right of its answer, how wide it is, and the answer."""

    sound: bool
    tight: bool
    dispatch: bool
    width: float
    shown: str


@pytest.fixture
def truth(root):
    file = root.parent / "shared" / "truth" / "bindings.json"
    if not file.is_file():
        pytest.skip(f"{file} is not there: the truth data lies beside the checkout, not in it")
    return json.loads(file.read_text(encoding="utf-8"))["sites"]


@pytest.mark.parametrize("version", ["0.5.23"])
def test_receivers_are_those_of_run_time(audit, version, truth, capsys):
    listed = {(site["path"], site["line"], site["name"]): site for site in audit(version).report["sites"]}
    rows = [(case, _judged(case, _site(case, listed))) for case in truth]
    sound, tight, dispatch = (sum(getattr(row, name) for _, row in rows) for name in ("sound", "tight", "dispatch"))
    width = sum(row.width for _, row in rows) / len(rows)
    with capsys.disabled():
        print(
            f"\nbindings of sglang {version}: of {len(rows)} sites {sound} sound, {tight} tight, {dispatch} exact by "
            f"dispatch (at least {SOUND}, {TIGHT}, {DISPATCH}), {width:.2f} classes for one of run time"
            f" (at most {WIDTH})"
        )
        for case, row in rows:
            if not row.tight:
                word = "too wide" if row.sound else "wrong"
                print(f"  {word:9}  #{case['id']} {case['file']}:{case['line']} {case['method']}: {row.shown}")
    assert sound >= SOUND
    assert tight >= TIGHT
    assert dispatch >= DISPATCH
    assert width <= WIDTH


def _site(case: Mapping[str, Any], listed: Mapping[tuple[str, int, str], Any]) -> Any:
    """The site of a call that starts on the line of the case."""
    places = ((case["file"], case["line"] + below, case["method"]) for below in range(SPAN))
    return next((listed[place] for place in places if place in listed), None)


def _judged(case: Mapping[str, Any], site: Any) -> Row:
    if site is None:
        return Row(False, False, False, 1.0, "no site")
    runs = {short(name): binding["method"] for binding in site["bindings"] for name in binding["classes"]}
    reasons = {binding["reason"] for binding in site["bindings"]}
    shown = ", ".join(sorted(runs)) or ", ".join(sorted(reasons))
    if case["kind"] != "pool" and reasons == {"not-a-pool"}:
        return Row(True, True, True, 1.0, shown)
    wanted, admitted = ({short(name) for name in case[key]} for key in ("runtime_classes", "flow_upper"))
    resolved = all(binding["classes"] for binding in site["bindings"] if binding["verdict"] == "unknown")
    sound = resolved and wanted <= runs.keys() <= admitted
    dispatch = sound and {runs[name] for name in wanted} == set(runs.values())
    return Row(sound, sound and runs.keys() == wanted, dispatch, len(runs) / len(wanted), shown)
