"""Fixes applied to the bytes of a file: lines are replaced, everything else stays as it is."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Sequence

from auditor.triage import Fix, ReportedFinding

_LINE = re.compile("[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_END = re.compile("\r\n|\r|\n")


def compatible(findings: Iterable[ReportedFinding]) -> tuple[Fix, ...]:
    """Fixes of the findings that can be made together: one for each place, and each gate once in a function, where it
    comes first. Whether the others are closed by these as well, the next audit tells."""
    kept: dict[tuple[str, str], Fix] = {}
    for one in findings:
        fix = one.fix
        if fix is None:
            continue
        known = kept.get((one.function, fix.gate))
        if known is None or fix.line < known.line:
            kept[one.function, fix.gate] = fix
    return tuple(fix for fix in kept.values() if not any(_meets(fix, other) for other in kept.values()))


def _meets(one: Fix, other: Fix) -> bool:
    """Whether a fix would change lines that another one, which goes first, changes."""
    overlap = one.path == other.path and one.line <= other.end_line and other.line <= one.end_line
    return overlap and (other.line, other.text) < (one.line, one.text)


def apply(data: bytes, encoding: str, fixes: Sequence[Fix]) -> bytes:
    """Apply compatible fixes of one file, with its own line ends.

    Raises:
        UnicodeError: the file is not in its encoding, or the encoding has no character for what is added.
    """
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    lines = _LINE.findall(data.removeprefix(mark).decode(encoding))
    for fix in sorted(fixes, key=lambda one: one.line, reverse=True):
        last = lines[fix.end_line - 1]
        end = _END.search(last)
        usual = _END.search(lines[0])
        between = end or usual
        text = fix.text.replace("\n", between.group() if between else "\n")
        lines[fix.line - 1 : fix.end_line] = [text + (end.group() if end else "")]
    return mark + "".join(lines).encode(encoding)
