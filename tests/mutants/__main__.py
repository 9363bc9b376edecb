"""Take one gate after another out of a real release and audit it again: is each reader flagged that this opens, and
does nothing else change? Prints a table and the share that is caught; asserts nothing.

    python -m tests.mutants sglang==0.5.23 [--limit 30] [--seed 1] [--kind deleted] [--path PART] [--dry-run]
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

from auditor.source import fetch_release
from tests.mutants.kinds import KINDS
from tests.mutants.trial import Row, Trial


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("tree", metavar="NAME==VERSION|PATH")
    parser.add_argument("--limit", type=int, help="this many mutants; those that open most come first")
    parser.add_argument("--seed", type=int, help="draw them instead")
    parser.add_argument("--kind", choices=KINDS, action="append", help="only these; repeatable")
    parser.add_argument("--path", action="append", default=[], help="only this part of the tree; repeatable")
    parser.add_argument("--dry-run", action="store_true", help="say what each opens, and audit none")
    asked = parser.parse_args()
    root = fetch_release(asked.tree) if "==" in asked.tree else Path(asked.tree)
    trial = Trial(root, asked.path)
    found = [one for one in trial.mutants() if one.kind in (asked.kind or KINDS)]
    print(f"{asked.tree}: {len(found)} mutants", flush=True)
    if asked.seed is None:
        opened = {one: trial.opened(one) for one in found}
        found.sort(key=lambda one: -len(opened[one].readers))
    else:
        random.Random(asked.seed).shuffle(found)
        opened = {one: trial.opened(one) for one in found[: asked.limit]}
    print(HEAD, flush=True)
    rows: list[Row] = []
    for one in found[: asked.limit]:
        if asked.dry_run:
            print(f"{len(opened[one].readers):7} {one}", flush=True)
            continue
        rows.append(trial.row(one, opened[one]))
        print(rows[-1].told(), flush=True)
    if rows:
        print(share(rows))


HEAD = " opened flagged unknown  others findings  mutant"


def share(rows: list[Row]) -> str:
    """How many of the mutants that open a reader are caught, and how many of the rest are silent."""
    opening = [one for one in rows if one.opened]
    silent = [one for one in rows if not one.opened]
    caught = sum(1 for one in opening if one.caught)
    quiet = sum(1 for one in rows if not one.others)
    part = f" ({caught / len(opening):.1%})" if opening else ""
    return (
        f"caught {caught} of {len(opening)} that open a reader{part}; "
        f"nothing else changes in {quiet} of {len(rows)}, {len(silent)} of which open none"
    )


if __name__ == "__main__":
    main()
