"""``bufgate config``: what holds and where it comes from; the form of the file."""

from __future__ import annotations

import click

from auditor.interfaces.options import configured
from auditor.interfaces.output import deliver


@click.group(short_help="Show the configuration, or its schema.")
def config() -> None:
    """Show the configuration, or the schema of its file."""


@config.command(short_help="Every value with its origin.")
@click.argument("paths", nargs=-1, type=click.Path())
@click.option("--config", "file", metavar="FILE", help="The configuration, in place of the nearest one.")
def show(paths: tuple[str, ...], file: str | None) -> None:
    """Write every value that holds for PATHS, and where it comes from."""
    from auditor.interfaces import configuration

    deliver("\n".join(configuration.show(configured(paths, None, file))) + "\n", None)


@config.command(short_help="The JSON Schema of bufgate.toml.")
def schema() -> None:
    """Write the JSON Schema of bufgate.toml, which editors complete and check it with."""
    import json

    from auditor.interfaces import configuration

    deliver(json.dumps(configuration.schema(), indent=2) + "\n", None)
