"""One tree, its mutants, and what the audit says of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias
from unittest.mock import patch

from auditor.audit import Options, spine
from auditor.audit.kept import kept_store
from auditor.certificates import Step
from auditor.gating import Judgement
from auditor.link import Linker
from auditor.source import cache_home, open_tree
from auditor.spec import EngineSpec
from auditor.triage import Report
from auditor.verify import Opinion
from tests.mutants.kinds import Text, mutants
from tests.mutants.reference import Answer, Carried, Opened, Reference, answers, proofs_of
from tests.mutants.sources import Mutant

Audited: TypeAlias = tuple[Report, Judgement, Linker, EngineSpec]
UNCOVERED = frozenset({"ungated", "latent", "unknown"})
EXCUSED = frozenset({"no-load", "transfer-side"})
"""Why a way to a read needs no gate, by the knowledge of a pack, which the reference has not."""
GONE = Answer("gone", frozenset())
SHOWN = 4


@dataclass(frozen=True, slots=True)
class Row:
    """What became of a mutant. ``opened`` readers by the reference, without those that are exempt by the knowledge of a
    pack or excluded by conditions; of them ``missed`` are called covered still and
    ``unknown`` cannot be decided; ``others`` changed their verdict and are not opened; ``findings`` are new."""

    mutant: Mutant
    opened: int
    missed: tuple[str, ...]
    unknown: int
    others: tuple[str, ...]
    findings: int

    @property
    def caught(self) -> bool:
        return not self.missed

    def told(self) -> str:
        flagged = self.opened - len(self.missed)
        counts = f"{self.opened:7} {flagged:7} {self.unknown:7} {len(self.others):7} {self.findings:8}  {self.mutant}"
        more = [f"{'':9}missed {one}" for one in self.missed[:SHOWN]]
        more += [f"{'':9}other {one}" for one in self.others[:SHOWN]]
        return "\n".join([counts, *more])


class Trial:
    """Audits a tree, then mutants of it. Facts of what does not change come from the cache."""

    def __init__(self, root: Path, parts: Sequence[str] = (), cache: Path | None = None) -> None:
        """Audit the tree, or only ``parts`` (paths below its root) of it."""
        self._cache = cache or cache_home()
        self._tree = open_tree([root / part for part in parts] or [root], base=root, cache=self._cache)
        report, judgement, linker, spec = self._audit({})
        self._fingerprints = {one.fingerprint for one in report.findings}
        self._proofs = proofs_of(judgement, linker, spec)
        self._reference = Reference(self._proofs)
        self._texts: dict[str, Text] = {}

    def mutants(self) -> list[Mutant]:
        """All mutants of the files that gates stand in, in the order of files and lines."""
        gates: dict[str, set[Step]] = defaultdict(set)
        armed: dict[str, set[Step]] = defaultdict(set)
        for step in self._proofs.gates():
            gates[step.path].add(step)
        for step in self._proofs.registrations():
            armed[step.path].add(step)
        paths = sorted(gates.keys() | armed.keys())
        waits = self._proofs.words.waits
        return [one for path in paths for one in mutants(self._text(path), gates[path], armed[path], waits)]

    def opened(self, mutant: Mutant) -> Opened:
        """Ask the reference."""
        path = mutant.path
        return self._reference.opened(
            mutant, self._text(path).text, self._tree.module(path), self._tree.is_package(path)
        )

    def row(self, mutant: Mutant, opened: Opened) -> Row:
        """Audit a mutant and compare."""
        carry = Carried(mutant, self._text(mutant.path).text)
        report, judgement, _, _ = self._audit({mutant.path: mutant.written(self._text(mutant.path).text).encode()})
        found = answers(judgement)
        missed, others, unknown, excused = [], [], 0, 0
        for reader, before in self._proofs.answers.items():
            now = carry.reader(reader)
            after = found.get(now, GONE) if now is not None else GONE
            if reader in opened.readers:
                unknown += after.verdict == "unknown"
                if after.verdict in UNCOVERED:
                    continue
                if after.verdict == "excluded" or after.exempt & EXCUSED:
                    excused += 1
                else:
                    missed.append(f"{reader}: {after.verdict} {', '.join(sorted(after.exempt))}")
            elif after.verdict != before.verdict and reader not in opened.undecided:
                others.append(f"{reader}: {before.verdict} -> {after.verdict}")
        new = sum(1 for one in report.findings if one.fingerprint not in self._fingerprints)
        return Row(mutant, len(opened.readers) - excused, tuple(missed), unknown, tuple(others), new)

    def _text(self, path: str) -> Text:
        if path not in self._texts:
            self._texts[path] = Text(path, (self._tree.read(path) or b"").decode())
        return self._texts[path]

    def _audit(self, changed: dict[str, bytes]) -> Audited:
        seen: list[tuple[Judgement, Linker, EngineSpec]] = []

        def overheard(judgement: Judgement, linker: Linker, spec: EngineSpec) -> Sequence[Opinion]:
            seen.append((judgement, linker, spec))
            return ()

        options = Options(jobs=1, timing=False, verify=True, cache=self._cache)
        with (
            kept_store(self._cache, print) as store,
            patch.object(spine, "second_opinions", overheard),
        ):
            report, _ = spine.fresh(self._tree.changed(changed), options, store)
        return report, *seen[0]
