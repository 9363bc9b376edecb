"""What was learned as the text of a rule pack: TOML, with a comment a line on where it was seen and how sure it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from auditor.learning.values import Arming, Evidence, Gate, Hooks, InFlight, Learned, Named
from auditor.spec import SCHEMA_VERSION, Uses

_PLACES = 3
"""Places of evidence that are written for one entry; of the others the number."""

_WHY = {
    "pools": "Given a counter, or waiting on it; storage that such an object hands out; what plugins load for.",
    "accessors": "They wait for the load of a layer, then hand out what is stored of it.",
    "siblings": "They hand out the same storage and do not wait themselves: what calls them may be the bug.",
    "buffers": "What accessors hand out a layer of, or plugins load to.",
    "parameters": "Readers hand it over after their wait: the storage of their layer, which they are passed.",
    "not_pools": "All their accessors raise: they stand in for a pool and hold no storage.",
    "host_side": "They make the counter, load, or are where the copies come from.",
    "transfers": "Loaders call it for a layer before they say that the layer is there.",
}


def pack_of(learned: Learned, uses: Uses, *, name: str, source: str, version_file: str = "") -> str:
    """Write what was learned as a pack called ``name``; ``source`` says where it was learned from."""
    return "\n".join(_lines(learned, uses, name, source, version_file)) + "\n"


def _lines(learned: Learned, uses: Uses, name: str, source: str, version_file: str) -> Iterator[str]:
    yield f"# Learned by `bufgate rules learn` from {_comment(source)}. Nobody has confirmed it: each line says where"
    yield "# it was seen and how sure that is. Correct it, delete what is wrong; `bufgate rules validate` checks it."
    yield f"schema = {SCHEMA_VERSION}"
    yield from ("", "[engine]", f"name = {_text(name)}", f"why = {_text(f'Learned from {_comment(source)}.')}")
    if version_file:
        yield f"version_file = {_text(version_file)}"
    for group in learned.told[:1]:
        yield from ("", "[[recognise]]", f"identifiers = {_list(group)}")
        yield 'why = "They stand together in one file: a counter and its wait, or a wait of plugins and who calls it."'
    yield from _names("pools", learned.pools)
    yield from _names("accessors", learned.accessors)
    yield from _names("accessors", learned.siblings, why="siblings")
    yield from _names("buffers", learned.buffers)
    yield from _names("parameters", learned.parameters)
    for gate in learned.gates:
        yield from _gate(gate)
    for arming in learned.arming:
        yield from _arming(arming)
    for one in learned.in_flight:
        yield from _in_flight(one)
    yield from _names("host_side", learned.host_side)
    yield from _names("not_pools", learned.stand_ins)
    yield from _names("transfers", learned.transfers)
    if learned.hooks is not None:
        yield from _hooks(learned.hooks)
    yield from _uses(uses)


def _names(table: str, entries: Sequence[Named], why: str = "") -> Iterator[str]:
    if entries:
        yield from ("", f"[[{table}]]", "patterns = [")
        for one in entries:
            yield f"  {_text(one.name)}, # {one.confidence}: {_shown(one.shown)}"
        yield from ("]", f"why = {_text(_WHY[why or table])}")


def _gate(gate: Gate) -> Iterator[str]:
    yield from ("", f"# {gate.confidence}: {_shown(gate.shown)}", "[[gates]]")
    yield from (f"method = {_text(gate.method)}", f"counter = {_text(gate.counter)}", f"argument = {gate.argument}")
    yield f"index = {_text(gate.index)}"
    yield 'why = "Makes what follows wait for the layer: its counter is handed in and picks an event or future by it."'


def _arming(arming: Arming) -> Iterator[str]:
    yield from ("", f"# {arming.confidence}: {_shown(arming.shown)}", "[[arming]]")
    yield from (f"method = {_text(arming.method)}", f"argument = {arming.argument}")
    yield 'why = "Stores the counter on the object."'


def _in_flight(one: InFlight) -> Iterator[str]:
    yield from ("", f"# {one.confidence}: {_shown(one.shown)}", "[[in_flight]]", f"attribute = {_text(one.attribute)}")
    yield from (f"operator = {_text(one.operator)}", f"value = {one.value}")
    yield 'why = "Where it does not hold the wait returns at once: no load belongs to the running batch."'


def _hooks(hooks: Hooks) -> Iterator[str]:
    named = (("wait", hooks.wait), ("load", hooks.load), ("offer", hooks.offer))
    lines = (
        *("[connectors]", f"roots = {_list((hooks.root,))}", *(f"{key} = {_text(name)}" for key, name in named)),
        *(f"absent = {_list(hooks.absent)}", f"idle = {_list(hooks.idle)}"),
        'why = "Plugins that load: one method starts the loads of a pass, another waits for the layer at hand."',
    )
    yield from ("", f"# {hooks.confidence}: {_shown(hooks.shown)}")
    if not hooks.offer:
        yield "# No method was seen that tells how much can be loaded, and whether between passes: name it to use this."
    yield from (line if hooks.offer else f"# {line}" for line in lines)


def _uses(uses: Uses) -> Iterator[str]:
    yield from ("", "# PyTorch's own words, as in the built-in packs: nothing of this was learned.", "[uses]")
    for kind in ("metadata", "address", "views", "stores", "synchronizes"):
        yield f"{kind} = {_list(getattr(uses, kind))}"
    yield f"why = {_text(uses.why)}"


def _shown(shown: Iterable[Evidence]) -> str:
    first, *others = dict.fromkeys(shown)
    more = [_place(one) for one in others[: _PLACES - 1]]
    left = len(others) - len(more)
    text = "; ".join([f"{_place(first)} {first.what}", *more]) + (f" and {left} more" if left else "")
    return _comment(text)


def _place(one: Evidence) -> str:
    return f"{one.path}:{one.line}"


def _comment(text: str) -> str:
    """A text in which nothing ends the comment: names of files and expressions come from strangers."""
    return "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in text)


def _text(text: str) -> str:
    import json

    return json.dumps(_comment(text), ensure_ascii=False)


def _list(names: Sequence[str]) -> str:
    return "[" + ", ".join(map(_text, names)) + "]"
