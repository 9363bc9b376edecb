"""docs/features.md says of each feature how to see it: each command is there, with the options that are written."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from auditor.interfaces.cli import main
from auditor.render import FORMATS, read_documentation

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "features.md"
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in DOCUMENT.read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| feature ")
]
COMMANDS = sorted({command for row in ROWS for command in re.findall(r"`(bufgate [^`]*)`", row[2])})
FEATURES = 26
"""Rows of the table of features that set the bar."""


def test_every_feature_has_a_row_and_a_way_to_see_it() -> None:
    assert len({row[0] for row in ROWS}) == len(ROWS) == FEATURES
    assert [row[0] for row in ROWS if not (row[2] or row[1].startswith("not there"))] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_is_there(command: str) -> None:
    """Parsed by the verb itself, so a mistyped option or value is an error; nothing is run."""
    words = shlex.split(command.partition(";")[0])[1:]
    verb: click.Command = main
    context = click.Context(main)
    while isinstance(verb, click.Group) and words and words[0] in verb.commands:
        verb, words = verb.commands[words[0]], words[1:]
        context = click.Context(verb, parent=context)
    assert not isinstance(verb, click.Group) or verb.invoke_without_command, f"{command}: no such verb"
    context.resilient_parsing = False
    verb.parse_args(context, words)


@pytest.mark.parametrize("command", [one for one in COMMANDS if " -o " in one or " explain " in one])
def test_what_it_names_is_there(command: str) -> None:
    assert set(re.findall(r"-o (\w+)", command)) <= set(FORMATS)
    checks = re.findall(r"explain ([a-z-]+)", command)
    assert set(checks) <= set(read_documentation())
