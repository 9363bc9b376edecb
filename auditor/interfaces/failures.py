"""How a run ends that cannot go on: a message on stderr that says what to do, and the exit status."""

from __future__ import annotations

import gc
import os
import sys
from typing import IO, Any

import click

from auditor.collector import no_collector
from auditor.errors import AuditError
from auditor.interfaces.exits import COULD_NOT, INTERRUPTED

DEBUG = "bufgate.debug"
"""The key under which ``--debug`` is kept for the whole run."""


class Failure(click.ClickException):
    """Indicates that the run could not be done; the message says what the user can mend."""

    exit_code = COULD_NOT

    def show(self, file: IO[Any] | None = None) -> None:
        """Write the message to stderr, harmless whatever it quotes."""
        from auditor.render import clean

        text = "\n".join(clean(line) for line in self.format_message().splitlines())
        click.echo(f"bufgate: {text}", file=file, err=file is None)


class Verbs(click.Group):
    """The group of all verbs: it maps errors to exit statuses, and prints its help in sections."""

    sections: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def main(self, *args: Any, **options: Any) -> Any:
        """Run one command; what it made is left to the system when the process ends, not collected."""
        _open_streams()
        with no_collector():
            try:
                return super().main(*args, **options)
            finally:
                if not args and "args" not in options:  # the command line of this process: it ends now
                    gc.freeze()

    def invoke(self, ctx: click.Context) -> Any:
        """Run a verb; the only place that catches everything."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except KeyboardInterrupt:
            click.echo("bufgate: interrupted", err=True)
            raise click.exceptions.Exit(INTERRUPTED) from None
        except AuditError as error:
            if ctx.meta.get(DEBUG):
                raise
            raise Failure(str(error)) from error
        except Exception as error:
            if ctx.meta.get(DEBUG):
                raise
            raise Failure(_internal(error)) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verbs under the headings of ``sections``."""
        for heading, names in self.sections:
            commands = [(name, self.commands[name]) for name in names]
            with formatter.section(heading):
                formatter.write_dl([(name, command.get_short_help_str(limit=90)) for name, command in commands])


def _open_streams() -> None:
    """Have the places of stdout and stderr taken where the caller closed them: else the next file is opened there."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - for the whole run


def _internal(error: Exception) -> str:
    return (
        f"internal error: {type(error).__name__}: {error}\n"
        "This is a fault of bufgate, not of your code; nothing was decided about it.\n"
        "Please report it with the traceback: the same command with --debug prints it."
    )
