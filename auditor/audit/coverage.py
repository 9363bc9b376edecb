"""What a run covered: the numbers without which "no finding" is no answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from auditor.audit.reading import Reader
from auditor.source import SourceTree
from auditor.spec import EngineSpec
from auditor.triage import VERDICTS, Site, Stats


def stats(tree: SourceTree, reader: Reader, sites: Sequence[Site], verified: dict[str, int]) -> Stats:
    verdicts = Counter(site.verdict for site in sites)
    bindings = [binding for site in sites for binding in site.bindings]
    reasons = Counter(binding.reason for site in sites if site.verdict == "unknown" for binding in site.bindings[:1])
    return Stats(
        files=sum(1 for path in tree.files if tree.reported(path)),
        files_parsed=reader.parsed,
        sites=len(sites),
        bindings=len(bindings),
        verdicts={verdict: verdicts[verdict] for verdict in VERDICTS},
        unknown_reasons=dict(sorted(reasons.items())),
        assumptions_used=len({one for binding in bindings for one in binding.assumptions}),
        seconds=None,
        verified=verified,
    )


def nothing(spec: EngineSpec, reader: Reader) -> str:
    names = ", ".join(pattern for group in spec.accessors for pattern in group.patterns)
    return (
        f"{spec.name} is recognised, but no call of an accessor ({names}) was found in the {reader.parsed} files that "
        "mention its vocabulary."
    )
