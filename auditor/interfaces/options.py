"""The options that several verbs share, each written once; and the request that they add up to."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click

from auditor.interfaces.failures import DEBUG
from auditor.interfaces.output import page_width, use_color
from auditor.interfaces.progress import Progress

if TYPE_CHECKING:
    from auditor.audit import Options
    from auditor.interfaces.configuration import Configuration
    from auditor.render import Page
    from auditor.source import SourceTree

Verb = TypeVar("Verb", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Request:
    """What the user asked to be audited, and how."""

    paths: tuple[str, ...]
    release: str | None
    extra: tuple[str, ...]
    engine: str | None
    assumptions: bool
    assume: tuple[str, ...]
    jobs: int
    cache: bool
    quiet: bool
    configuration: Configuration
    verify: bool = False
    verbose: bool = False
    arguments: str = ""
    """What a command that asks on has to repeat, so that it audits the same."""

    def open(self) -> SourceTree:
        """Open the tree, fetching the releases that are named."""
        from auditor.source import fetch_release

        return self.open_roots([fetch_release(self.release)] if self.release else self.roots())

    def open_roots(self, roots: Sequence[Path], base: Path | None = None) -> SourceTree:
        """Open other roots in place of the paths; ``base`` is what their files are relative to."""
        from auditor.source import open_tree

        extra = [_extra(text) for text in self.extra]
        return open_tree(roots, extra=extra, roles=self.configuration.roles, base=base)

    def top(self) -> Path:
        """Return the folder that all paths have in common: what the paths of the report are relative to."""
        folders = [path if path.is_dir() else path.parent for path in map(Path, map(os.path.realpath, self.roots()))]
        return Path(os.path.commonpath(folders))

    def roots(self) -> list[Path]:
        """Return the paths to audit: those that were given, else those of the configuration, else where we are."""
        if self.paths or "paths" not in self.configuration.lines:
            return [Path(path) for path in self.paths or ["."]]
        return [self.configuration.path(path) for path in self.configuration["paths"]]

    def baseline_file(self, given: str | None) -> Path | None:
        """Return the file of the baseline, be it there or not: the one that was given, else the project's."""
        if given is not None:
            return Path(given)
        return None if self.release else self.configuration.path(self.configuration["baseline"])

    def rules(self) -> tuple[Path, ...]:
        """Return the rule packs of the configuration."""
        return tuple(self.configuration.path(path) for path in self.configuration["rules"])

    def options(self, progress: Progress, *, timing: bool = True) -> Options:
        """Return the options of the spine."""
        import datetime

        from auditor.audit import Options
        from auditor.source import cache_home

        return Options(
            jobs=self.jobs,
            engine=self.engine or self.configuration["engine"] or None,
            rules=self.rules(),
            assumptions=self.assumptions and self.configuration["assumptions"],
            assume=self.assume,
            timing=timing,
            verify=self.verify,
            today=datetime.date.today(),
            progress=progress,
            cache=cache_home() if self.cache else None,
            remark=lambda text: self.say(f"bufgate: {text}"),
            detail=self.detail,
        )

    def processes(self) -> int:
        """Return how many processes may be used."""
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return self.jobs or cores

    def progress(self) -> Progress:
        """Return the progress display for stderr."""
        interactive = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        return Progress(sys.stderr, interactive=interactive, quiet=self.quiet)

    def say(self, text: str) -> None:
        """Write a remark to stderr, unless ``--quiet``."""
        if not self.quiet:
            click.echo(text, err=True)

    def detail(self, text: str) -> None:
        """Write a line to stderr under ``--verbose``."""
        if self.verbose:
            self.say(f"bufgate: {text}")


def _extra(text: str) -> Path:
    """A path that is there is a path, whatever it looks like."""
    from auditor.source import fetch_release

    return fetch_release(text) if "==" in text and not Path(text).exists() else Path(text)


def _assignment(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not (key and equals and value):
        raise click.BadParameter(f"{text!r} is not KEY=VALUE, as in platform=cuda.")
    return key, value


def _processes(_ctx: click.Context, _param: click.Parameter, text: str) -> int:
    """Read a number from 1; ``auto`` is 0."""
    if text == "auto":
        return 0
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise click.BadParameter(f"{text!r} is neither a number from 1 nor 'auto'.")
    return int(text)


Offer = Callable[[click.Context, click.Parameter, str], list[str]]


def completing(names: Callable[[], Iterable[str]]) -> Offer:
    """Have a shell complete a value from a closed list, which is loaded only then."""
    return lambda _ctx, _param, start: [one for one in names() if one.startswith(start)]


def report_formats() -> Iterable[str]:
    """Return the formats of reports."""
    from auditor.render import FORMATS

    return FORMATS


def check_ids() -> Iterable[str]:
    """Return the ids of all checks that have a documentation."""
    from auditor.render import read_documentation

    return read_documentation()


def _remember_debug(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    ctx.meta[DEBUG] = value


debug_option = click.option(
    "--debug",
    is_flag=True,
    expose_value=False,
    callback=_remember_debug,
    help="Let errors through with their traceback.",
)
_WHAT = (
    click.argument("paths", nargs=-1, type=click.Path()),
    click.option("--release", metavar="NAME==VERSION", help="Audit a release from PyPI in place of PATHS."),
    click.option(
        "--with",
        "extra",
        multiple=True,
        metavar="PATH|NAME==VERSION",
        help="Also read this, to resolve names in it; it is not reported. Repeatable.",
    ),
)
_CONFIG = click.option("--config", metavar="FILE", help="The configuration, in place of the nearest one.")
_READING = (
    click.option(
        "--jobs", callback=_processes, default="auto", metavar="N|auto", help="Processes to use.  [default: auto]"
    ),
    click.option("--no-cache", is_flag=True, help="Parse every file; neither read nor write what earlier runs kept."),
    click.option("-q", "--quiet", is_flag=True, help="No progress and no remarks on stderr."),
    click.option("-v", "--verbose", is_flag=True, help="Tell on stderr what is read, from where, and each phase."),
    debug_option,
)
_HOW = (
    click.option("--engine", metavar="PACK", help="Use this rule pack instead of the one that is recognised."),
    _CONFIG,
    click.option(
        "--assume",
        multiple=True,
        metavar="K=V",
        help="Leave out what cannot happen where this holds: platform=cuda, use_mla=true. Repeatable.",
    ),
    click.option("--no-assumptions", is_flag=True, help="Ignore the assumptions of the rule pack."),
    *_READING,
)


def tree_options(verb: Verb) -> Verb:
    """Give a verb the PATHS argument and the options of reading; it gets them as one ``request``."""
    return _with_options(_taking_request(verb), (*_WHAT, *_HOW))  # type: ignore[no-any-return]


def reading_options(verb: Verb) -> Verb:
    """Give a verb the options of reading without PATHS: what it reads it names itself."""
    taking = _taking_request(verb)

    @functools.wraps(verb)
    def without_paths(**options: Any) -> object:
        return taking(paths=(), release=None, extra=(), **options)

    return _with_options(without_paths, _HOW)  # type: ignore[no-any-return]


def unruled_tree_options(verb: Verb) -> Verb:
    """Give a verb the PATHS argument and the options of reading that have nothing to do with rule packs."""
    taking = _taking_request(verb)

    @functools.wraps(verb)
    def without_rules(**options: Any) -> object:
        return taking(engine=None, assume=(), no_assumptions=False, **options)

    return _with_options(without_rules, (*_WHAT, _CONFIG, *_READING))  # type: ignore[no-any-return]


def _with_options(verb: Any, options: Sequence[Any]) -> Any:
    for option in reversed(options):
        verb = option(verb)
    return verb


def _taking_request(verb: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(verb)
    def with_request(
        paths: tuple[str, ...], release: str | None, no_assumptions: bool, no_cache: bool, **options: Any
    ) -> object:
        if paths and release:
            raise click.UsageError("PATHS and --release exclude each other: name one of them.")
        if options["quiet"] and options["verbose"]:
            raise click.UsageError("--quiet and --verbose exclude each other: name one of them.")
        config = options.pop("config")
        configuration = configured(paths, release, config)
        kept = {name: options.pop(name) for name in ("extra", "engine", "assume", "jobs", "quiet", "verbose")}
        request = Request(
            paths=paths,
            release=release,
            assumptions=not no_assumptions,
            cache=not no_cache,
            configuration=configuration,
            arguments=_repeated(paths, release, config, assumptions=not no_assumptions, **kept),
            **kept,
        )
        return verb(request=request, **options)

    return with_request


def _repeated(paths: Sequence[str], release: str | None, config: str | None, *, assumptions: bool, **kept: Any) -> str:
    """Write the arguments that say what is audited, for a shell."""
    import shlex

    said = {"--release": [release], "--with": kept["extra"], "--engine": [kept["engine"]], "--config": [config]}
    said["--assume"] = kept["assume"]
    options = [word for name, values in said.items() for value in values if value for word in (name, value)]
    return shlex.join([*paths, *options, *([] if assumptions else ["--no-assumptions"])])


def configured(paths: Sequence[str], release: str | None, file: str | None) -> Configuration:
    """Read the configuration that is named, else the nearest one; a release has none of its own."""
    from auditor.interfaces.configuration import Configuration, find, read

    if file is None:
        return Configuration(Path()) if release else find(paths)
    found = read(Path(file))
    if found is None:
        raise click.UsageError(f"{file} has no [tool.bufgate].")
    return found


baseline_option = click.option(
    "--baseline", "file", metavar="FILE", help="The accepted findings.  [default: bufgate-baseline.json of the project]"
)

color_option = click.option("--color/--no-color", default=None, help="Colours; by default where a terminal shows them.")


class Shown(Protocol):
    """Files whose lines a report shows."""

    @property
    def files(self) -> Sequence[str]: ...

    def lines(self, path: str) -> Sequence[str]:
        """Return the lines of a file as Python counts them."""


def page_for(
    request: Request,
    tree: Shown,
    *,
    color: bool | None,
    to_stdout: bool,
    min_confidence: str = "medium",
) -> Page:
    """Return the page that a report of this tree is written on."""
    return replace(
        plain_page(color=color, to_stdout=to_stdout),
        lines=source_lines(tree),
        min_confidence=min_confidence,
        arguments=request.arguments,
        prefix="" if request.release else _below_repository(request.top()),
        here="" if request.release else _from_here(request.top()),
    )


def source_lines(tree: Shown) -> Callable[[str], Sequence[str]]:
    """Return what gives the lines of a file of the tree, and none of any other."""
    known = frozenset(tree.files)

    @functools.lru_cache(maxsize=16)
    def lines(path: str) -> Sequence[str]:
        return tree.lines(path) if path in known else ()

    return lines


def plain_page(*, color: bool | None, to_stdout: bool) -> Page:
    """Return the page for a text that shows no source lines."""
    from auditor.render import Page

    terminal = to_stdout and sys.stdout.isatty()
    return Page(
        color=to_stdout and use_color(color, terminal=terminal, environment=os.environ),
        width=page_width(terminal=terminal, environment=os.environ),
    )


def _from_here(root: Path) -> str:
    """Return where the root lies seen from the working folder; ``""`` where neither is in the other: no path leads
    from here to there that a person would write."""
    if not (root.is_relative_to(Path.cwd()) or Path.cwd().is_relative_to(root)):
        return ""
    below = Path(os.path.relpath(root)).as_posix()
    return "" if below == "." else f"{below}/"


def _below_repository(root: Path) -> str:
    """Return where the root lies in the repository around it, else below the working folder: ``""`` or ``folder/``."""
    top = next((one for one in (root, *root.parents) if (one / ".git").exists()), Path.cwd())
    below = root.relative_to(top).as_posix() if root.is_relative_to(top) else "."
    return "" if below == "." else f"{below}/"
