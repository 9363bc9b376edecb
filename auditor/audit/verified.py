"""Certificates checked again (``--verify``): how many hold, and those that do not as problems of the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from auditor.gating import Judgement, certificates, vocabulary
from auditor.link import Linker
from auditor.spec import EngineSpec
from auditor.triage import ReportedProblem
from auditor.verify import Opinion, verify


def second_opinions(judgement: Judgement, linker: Linker, spec: EngineSpec) -> Sequence[Opinion]:
    """Have every certificate checked by the program that knows the facts alone."""
    facts = {name: code.facts for name, code in linker.codes.items()}
    return verify(certificates(judgement), facts, vocabulary(spec, linker))


def counted(opinions: Sequence[Opinion]) -> dict[str, int]:
    """Return the numbers of certificates, of those that hold, and of those of which a part could not be asked."""
    if not opinions:
        return {}
    holding = [one for one in opinions if not one.objections]
    partly = sum(1 for one in holding if one.untested)
    return {"certificates": len(opinions), "hold": len(holding), "partly": partly}


def refuted(opinions: Sequence[Opinion]) -> Iterator[ReportedProblem]:
    """A certificate that does not hold is a fault of bufgate; the report may not be trusted at that place."""
    told: set[tuple[str, str]] = set()
    for one in opinions:
        for objection in one.objections:
            if (one.certificate.site, objection) not in told:
                told.add((one.certificate.site, objection))
                path, _, line = one.certificate.site.rpartition(":")
                what = f"the certificate of this gated site does not hold: {objection}"
                yield ReportedProblem(path, int(line), what, relevant=True)
