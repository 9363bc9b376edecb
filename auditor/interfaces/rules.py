"""``bufgate rules``: which rule packs there are, what they say, whether one is right."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from auditor.interfaces.failures import Failure
from auditor.interfaces.options import Request, reading_options, unruled_tree_options
from auditor.interfaces.output import deliver, writable

if TYPE_CHECKING:
    from auditor.spec import EngineSpec


@click.group(short_help="List, show, validate and learn rule packs.")
def rules() -> None:
    """Look at rule packs: what bufgate must be told of an engine, because no code says it."""


@rules.command("list", short_help="The packs that there are, and what each is about.")
@reading_options
def list_(request: Request) -> None:
    """List the packs of the project, then the built-in ones."""
    deliver("".join(f"{line}\n" for spec in _packs(request) for line in _about(spec)), None)


@rules.command(short_help="What a pack says, as it is written.")
@click.argument("pack", metavar="PACK")
@reading_options
def show(request: Request, pack: str) -> None:
    """Write the pack called PACK (or the file PACK) as it stands: every entry has its reason."""
    from auditor.spec import find_pack, pack_text

    deliver(pack_text(find_pack(pack, _packs(request))), None)


@rules.command(short_help="Tell everything that is wrong with pack files.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
def validate(files: tuple[str, ...]) -> None:
    """Check pack files; every fault is told with its line."""
    from auditor.spec import PackError, load_pack

    faults, fine = [], []
    for file in files:
        try:
            fine.append(f"{file}: fine: {_size(load_pack(file))}\n")
        except PackError as error:
            faults += [str(fault) for fault in error.faults]
    deliver("".join(fine), None)
    if faults:
        raise Failure("\n".join([f"{len(faults)} to mend:" if len(faults) > 1 else "one thing to mend:", *faults]))


@rules.command(short_help="A rule pack for an engine that has none, mined from its code.")
@click.option("-o", "--output", "file", metavar="FILE", help="Write the pack to FILE, not to stdout.")
@click.option("--name", metavar="NAME", help="The name of the pack.  [default: that of the release or folder]")
@unruled_tree_options
def learn(request: Request, file: str | None, name: str | None) -> None:
    """Mine a rule pack from the code below PATHS: pools, accessors, storage, gates, arming calls, loaders, plugins.

    They are found by what the code does, not by what it is called. Each line of the pack says where that was seen and
    how sure it is; nobody has confirmed it. Read it, correct it, then name it in the configuration.
    """
    from auditor.audit import learn as learned_from

    place = writable(Path(file)) if file is not None else None
    tree = request.open()
    shown = request.release or tree.root.name
    proposal = learned_from(tree, request.options(request.progress()), name=name or _slug(shown), source=shown)
    deliver(proposal.text, place)
    if proposal.problems:
        unread = [f"{path}:{line}: {what}" for path, line, what in proposal.problems]
        raise Failure("\n".join(["what could not be read may be missing from the pack:", *unread]))


def _slug(name: str) -> str:
    """The name of a release or folder as that of a pack."""
    return re.sub(r"[^a-z0-9]+", "-", name.partition("==")[0].lower()).strip("-")


def _packs(request: Request) -> tuple[EngineSpec, ...]:
    from auditor.spec import built_in_packs, load_pack

    return (*map(load_pack, request.rules()), *built_in_packs())


def _about(spec: EngineSpec) -> Iterator[str]:
    yield f"{spec.name} ({spec.origin}): {_size(spec)}"
    yield f"  {spec.why}"


def _size(spec: EngineSpec) -> str:
    tables = ("pools", "accessors", "buffers", "gates", "arming", "kernels", "entries", "assumptions")
    counted = ((name, len(getattr(spec, name))) for name in tables)
    return ", ".join(f"{number} {name}" for name, number in counted if number)
