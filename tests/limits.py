"""Print LIMITS.md: every known wrong answer, from the `# missed:` and `# false:` notes of the fixtures.

python -m tests.limits            (`make golden` writes the file)
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from tests.fixtures.notation import read_text

WHY = re.compile(r"#.* -- (.*)")

INTRODUCTION = """\
# Limits

What bufgate is known to get wrong. This page is made from the fixtures (`make golden`): each line below is a test that
holds the wrong answer in place, so that a change of it, for better or worse, is seen.

- *missed*: a hazard that is there and is not reported, or a verdict that is right and is not given.
- *false*: a report where there is no hazard, or one under a check that does not fit (the right one is then missed).

What the tool *rightly cannot tell* is not on this page, for it says so itself: such a site has the verdict `unknown`
with its reason. Here it stands only where the answer is within reach of the code.
"""


def limits(fixtures: Path) -> str:
    """Write the page."""
    missed = [line for file in sorted(fixtures.rglob("*.py")) for line in notes(fixtures, file, "missed")]
    false = [line for file in sorted(fixtures.rglob("*.py")) for line in notes(fixtures, file, "false")]
    return "\n".join([INTRODUCTION, *section("Missed", missed), *section("False", false)])


def section(title: str, lines: list[str]) -> list[str]:
    return [f"## {title}", "", *(lines or ["None known."]), ""]


def notes(fixtures: Path, file: Path, kind: str) -> list[str]:
    """List the notes of one kind in a file, each as a list item with its reason, or else what the file says it is."""
    text = file.read_text(encoding="utf-8", errors="replace")
    story = text.removeprefix('"""').splitlines()[0].rstrip('"') if text.startswith('"""') else ""
    lines = text.splitlines()
    place = f"fixtures/{file.relative_to(fixtures).as_posix()}"
    found = []
    for each in read_text(place, text)[0]:
        if each.wrong == kind:
            why = WHY.search(lines[each.line - 1])
            said = (why[1] if why else story).strip()
            what = str(each).removeprefix(f"{kind}: ")
            found.append(f"- `{what}` at [{place}:{each.line}]({place}#L{each.line}){said and ': ' + said}")
    return found


if __name__ == "__main__":
    sys.stdout.write(limits(Path(__file__).resolve().parent.parent / "fixtures"))
