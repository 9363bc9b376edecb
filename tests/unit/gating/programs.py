# ruff: noqa: E501  # a program a line reads better than a program torn apart
"""Small engines, judged: what the tests of gating, checks and triage share. ``judged`` is the one place that calls the code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from textwrap import dedent, indent

from auditor.callgraph import CallGraph, freeze
from auditor.checks import Finding, check
from auditor.extract import extract
from auditor.fix import Proposer
from auditor.gating import BindingVerdict, Judgement, SiteVerdict, judge
from auditor.link import Hierarchy, Linker, link_on_demand
from auditor.loading import Loading, loading_of
from auditor.spec import EngineSpec, find_pack, matcher
from auditor.triage import ReportedFinding, assemble_findings

ENGINE = """
import torch

class Counter:
    def __init__(self, layers):
        self.events = [torch.cuda.Event() for _ in range(layers)]
        self.consumer_index = -1
    def wait_until(self, layer):
        torch.cuda.current_stream().wait_event(self.events[layer])

class KVCache:
    def __init__(self, layer_num, start_layer=0):
        self.layer_num = layer_num
        self.start_layer = start_layer
        self.layer_transfer_counter = None
        self.k_buffer = [torch.zeros(64, 8) for _ in range(layer_num)]
        self.v_buffer = [torch.zeros(64, 8) for _ in range(layer_num)]
    def register_layer_transfer_counter(self, counter):
        self.layer_transfer_counter = counter

class Controller:
    def __init__(self, pool):
        self.counter = Counter(4)
        pool.register_layer_transfer_counter(self.counter)
"""
"""What every engine has: a counter, the root of the pools, a loader that arms its pool."""


def engine(pool: str, code: str = "") -> str:
    """An engine with an armed ``KeyPool`` of these methods; ``code`` stands at module level behind it."""
    body = indent(dedent(pool).strip("\n"), "    ") or "    pass"
    return f"{ENGINE}\nclass KeyPool(KVCache):\n{body}\n\n{dedent(code)}\n"


SERVE = """
def serve(layer_id, rows, q):
    pool = KeyPool(4)
    Controller(pool)
    return q @ pool.get_key_buffer(layer_id)
"""
"""One armed pool and one reader of its accessor."""

WAIT = """
def wait(self, layer_id):
    if self.layer_transfer_counter is not None:
        self.layer_transfer_counter.wait_until(layer_id - self.start_layer)
"""
"""The usual gate, as a method of a pool."""

READ = """
def get_key_buffer(self, layer_id):
    return self.k_buffer[layer_id - self.start_layer]
"""
"""The usual accessor, without a gate."""

GATED = """
def get_key_buffer(self, layer_id):
    self.layer_transfer_counter.wait_until(layer_id - self.start_layer)
    return self.k_buffer[layer_id - self.start_layer]
"""
"""The usual accessor with its gate."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A judgement with the text it is about."""

    texts: Mapping[str, str]
    judgement: Judgement
    findings: tuple[Finding, ...]
    graph: CallGraph
    linker: Linker
    loading: Loading

    def lines(self, mark: str) -> Iterator[tuple[str, int]]:
        """Where ``# mark`` stands at the end of a line."""
        for path, text in self.texts.items():
            for number, line in enumerate(text.splitlines(), 1):
                if line.rstrip().endswith(f"# {mark}"):
                    yield path, number

    def sites(self, mark: str = "here") -> list[SiteVerdict]:
        places = set(self.lines(mark))
        assert places, f"no line is marked `# {mark}`"
        return [one for one in self.judgement.sites if (one.path, one.line) in places]

    def bindings(self, mark: str = "here") -> list[BindingVerdict]:
        return [binding for site in self.sites(mark) for binding in site.bindings]

    def answers(self, mark: str = "here") -> set[str]:
        """Of every site on the marked lines: ``gated``, the check of a finding, or the verdict and its reason."""
        return {self._answer(one) for one in self.sites(mark)}

    def answer(self, mark: str = "here") -> str:
        """The one answer of the marked lines."""
        found = self.answers(mark)
        return found.pop() if len(found) == 1 else " & ".join(sorted(found)) or "no site"

    def _answer(self, site: SiteVerdict) -> str:
        place = (site.path, site.line, site.column, site.name)
        told = [one.check for one in self.findings if place in one.sites]
        worst = site.bindings[0]
        match worst.verdict:
            case "gated":
                return "gated"
            case "ungated":
                return " & ".join(sorted(set(told))) or "ungated, not told"
            case "latent":
                return "latent"
        return f"{worst.verdict}: {worst.reason}"

    def finding(self) -> Finding:
        """The only finding."""
        assert len(self.findings) == 1, [(one.check, one.function) for one in self.findings]
        return self.findings[0]

    def state(self, cls: str) -> str:
        """What the counters of the objects of a class (by its short name) are."""
        kinds = {
            self.judgement.armed.state(one).kind
            for name, made in self.linker.instances.items()
            if name.rpartition(".")[2] == cls
            for one in made
            if not one.anonymous
        }
        assert len(kinds) == 1, kinds
        return kinds.pop()


def judged(sources: Mapping[str, str] | str, spec: EngineSpec | None = None) -> Judged:
    """Link and judge modules by name (a single text is ``m``)."""
    named = {"m": sources} if isinstance(sources, str) else sources
    spec = spec or find_pack("sglang")
    texts = {f"{name.replace('.', '/')}.py": text for name, text in named.items()}
    modules = [
        extract(path, name, False, text.encode()) for (path, text), name in zip(texts.items(), named, strict=True)
    ]
    pool, host, accessor = matcher(spec.pools), matcher(spec.host_side), matcher(spec.accessors)

    def tracked(cls: str, hierarchy: Hierarchy) -> bool:
        names = [base.rpartition(".")[2] for base in hierarchy.mro(cls)]
        return not any(map(host, names)) and any(map(pool, names))

    linker = Linker({one.module: one.path for one in modules}, tracked)
    link_on_demand(linker, modules, lambda _: (), accessor, matcher(spec.buffers))
    graph = freeze(linker)
    loading = loading_of(linker, spec, lambda _: True)
    judgement = judge(linker, graph, spec, lambda _: True, loading)
    return Judged(texts, judgement, check(judgement, loading), graph, linker, loading)


def answer(pool: str, code: str = SERVE, mark: str = "here") -> str:
    """What the marked line of an engine with this pool is."""
    return judged(engine(pool, code)).answer(mark)


def reported(sources: Mapping[str, str] | str) -> list[ReportedFinding]:
    """The findings as a report has them, with their fixes."""
    found = judged(sources)
    proposer = Proposer(lambda path: found.texts[path].replace("\r\n", "\n").split("\n"))
    fixes = [one.remedy if isinstance(one.remedy, str) else proposer.fix(one.remedy) for one in found.findings]
    return list(assemble_findings(found.findings, fixes))
