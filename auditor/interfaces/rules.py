"""``bufgate rules``: which rule packs there are, what they say, whether one is right."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from auditor.interfaces.failures import Failure
from auditor.interfaces.options import Request, reading_options
from auditor.interfaces.output import deliver

if TYPE_CHECKING:
    from auditor.spec import EngineSpec


@click.group(short_help="List, show and validate rule packs.")
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
