"""Small programs with conditions: what the tests of the room share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from auditor.callgraph import freeze
from auditor.conditions import Conditions, Meeting
from auditor.facts import Attr, Call
from auditor.link import Instance
from auditor.spec import EngineSpec, parse_pack
from tests.unit.link.programs import link

PACK = """
schema = 1
[engine]
name = "small"
why = "For tests."
[[recognise]]
identifiers = ["Pool"]
why = "For tests."
[[configuration]]
patterns = ["*Args"]
why = "Read once."
[[meanings]]
test = "is_npu()"
means = "platform == npu"
why = "One card a process."
[[meanings]]
test = "is_cuda()"
means = "platform == cuda"
why = "One card a process."
"""


@dataclass(frozen=True)
class Answer:
    """What a program says of the receivers of ``get``: class -> how it comes there."""

    meetings: dict[str, Meeting]

    @property
    def classes(self) -> set[str]:
        return {name for name, one in self.meetings.items() if one.possible}

    def when(self, cls: str) -> tuple[str, ...]:
        return self.meetings[cls].when

    def why_not(self, cls: str) -> str:
        return self.meetings[cls].against


def ask(source: str, pack: str = PACK, assumed: Sequence[str] = (), method: str = "get_it") -> Answer:
    """Ask for the receivers of ``method``."""
    linker = link(source, on_demand=True)
    graph = freeze(linker)
    conditions = Conditions(linker, graph, spec(pack), assumed)
    found: dict[str, list[Meeting]] = {}
    for frame in graph.frames.values():
        for block, content in enumerate(frame.code.facts.blocks):
            for one in content.instructions:
                func = frame.code.defined.get(one.func) if isinstance(one, Call) else None
                if isinstance(func, Attr) and func.name == method:
                    for target in sorted(linker.view(frame, func.base, block), key=repr):
                        if isinstance(target, Instance):
                            meeting = conditions.meeting(frame, func.base, block, func.dst, target)
                            found.setdefault(target.cls.rpartition(".")[2], []).append(meeting)
    return Answer({cls: meetings[0].joined(meetings[1:]) for cls, meetings in found.items()})


def spec(pack: str = PACK) -> EngineSpec:
    return parse_pack(pack, "small.toml")
