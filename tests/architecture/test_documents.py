"""The documents that speak of the tree say what is there."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from tests.limits import limits


def test_limits_lists_the_known_wrong_answers(root: Path, golden: Callable[[Path, str], None]) -> None:
    """LIMITS.md is made from the `# missed:` and `# false:` notes of the fixtures."""
    golden(root / "LIMITS.md", limits(root / "fixtures"))


def test_architecture_has_a_paragraph_for_every_room(root: Path) -> None:
    text = (root / "ARCHITECTURE.md").read_text()
    rooms = {file.stem if file.is_file() else file.name for file in (root / "auditor").glob("[a-z]*")}
    assert {room for room in rooms if f"`auditor/{room}" not in text} == set()


def test_make_help_lists_every_target(root: Path) -> None:
    makefile = (root / "Makefile").read_text()
    (phony,) = re.findall(r"^\.PHONY: (.*)$", makefile, flags=re.MULTILINE)
    described = set(re.findall(r"^([a-z]+):.*  ## ", makefile, flags=re.MULTILINE))
    assert set(phony.split()) == described


def test_readme_opens_with_the_two_commands(root: Path) -> None:
    first, second = re.findall(r"^make \w+", (root / "README.md").read_text(), flags=re.MULTILINE)[:2]
    assert (first, second) == ("make run", "make test")


def test_links_between_documents_lead_somewhere(root: Path) -> None:
    broken = [
        f"{page.name}: {target}"
        for page in [*root.glob("*.md"), *root.glob("docs/*.md")]
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
        if not (page.parent / target).exists()
    ]
    assert broken == []
