"""``bufgate init`` and ``bufgate completion``: what a project needs to use bufgate, and what a shell needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from auditor import __version__
from auditor.interfaces.output import deliver

if TYPE_CHECKING:
    from auditor.interfaces.configuration import Configuration

SHELLS = ("bash", "zsh", "fish")

CONFIGURATION = """\
# The configuration of bufgate; `bufgate config show` lists every key with its value.
paths = ["."]
fail-on = "error"
"""
HOOK = f"""\
- repo: local
  hooks:
  - id: bufgate
    name: bufgate (reads that skip the transfer gate)
    entry: bufgate check --hook
    language: python
    additional_dependencies: ["bufgate=={__version__}"]
    pass_filenames: false
    always_run: true
    require_serial: true
"""
WORKFLOW = f"""\
name: bufgate
on:
  pull_request:
  push:
    branches: [main]
permissions:
  contents: read
jobs:
  check:
    runs-on: ubuntu-latest
    steps:
    - uses: actions/checkout@v4
      with:
        fetch-depth: 0
        persist-credentials: false
    - run: pipx install "bufgate=={__version__}"
    - if: github.event_name == 'pull_request'
      run: bufgate check --since "origin/$BASE"
      env:
        BASE: ${{{{ github.base_ref }}}}
    - if: github.event_name == 'push'
      run: bufgate check
"""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A file that a project gets; ``there`` says why it is left as it is, ``text`` then what its owner may add."""

    path: Path
    text: str
    there: str = ""


@click.command(short_help="Propose configuration, hook and workflow; --write makes them.")
@click.option("--write", is_flag=True, help="Write what is not there yet; nothing is ever replaced.")
def init(write: bool) -> None:
    """Show the files with which a project uses bufgate: configuration, pre-commit hook, workflow.

    They are written with --write, at the top of the repository; a file that is there is left as it is.
    """
    from auditor.interfaces.configuration import find

    proposals = list(_proposals(find([])))
    for proposal in proposals:
        if write and not proposal.there:
            proposal.path.parent.mkdir(parents=True, exist_ok=True)
            deliver(proposal.text, proposal.path)
    new = [proposal for proposal in proposals if not proposal.there]
    deliver("\n".join([*(_shown(one, written=write) for one in proposals), _ending(new, written=write)]) + "\n", None)


def _proposals(found: Configuration) -> Iterator[Proposal]:
    from auditor.interfaces.configuration import FILE

    if found.file:
        yield Proposal(found.path(found.file.name), "", "it is the configuration")
    else:
        yield Proposal(found.path(FILE), CONFIGURATION)
    hooks = found.path(".pre-commit-config.yaml")
    if not hooks.exists():
        yield Proposal(hooks, f"repos:\n{HOOK}")
    elif "id: bufgate" in hooks.read_text(encoding="utf-8", errors="replace"):
        yield Proposal(hooks, "", "it has the hook")
    else:
        yield Proposal(hooks, HOOK, "add this to its repos")
    workflow = found.path(".github/workflows/bufgate.yml")
    yield Proposal(workflow, "", "it is there") if workflow.exists() else Proposal(workflow, WORKFLOW)


def _shown(one: Proposal, *, written: bool) -> str:
    state = f"left as it is: {one.there}" if one.there else "written" if written else "new"
    return f"{one.path} ({state})\n" + "".join(f"    {line}\n" for line in one.text.split("\n")[:-1])


def _ending(new: Sequence[Proposal], *, written: bool) -> str:
    if not new:
        return "Everything is there."
    names = ", ".join(str(one.path) for one in new)
    return f"Written: {names}." if written else f"Nothing was written. `bufgate init --write` writes {names}."


@click.command(short_help="Print what a shell needs to complete bufgate's commands.")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a script that makes SHELL complete verbs and options.

    \b
    bash  eval "$(bufgate completion bash)"            in ~/.bashrc
    zsh   eval "$(bufgate completion zsh)"             in ~/.zshrc
    fish  bufgate completion fish | source             in ~/.config/fish/config.fish
    """
    from click.shell_completion import get_completion_class

    complete = get_completion_class(shell)
    assert complete is not None, "click has these shells"
    deliver(complete(ctx.find_root().command, {}, "bufgate", "_BUFGATE_COMPLETE").source(), None)
