"""Small engines that use no word of a real one: what the tests of the room share. ``mined`` calls the code."""

from __future__ import annotations

import random
from textwrap import dedent

from auditor.extract import extract
from auditor.facts import ModuleFacts
from auditor.learning import Learned, Wanted, learn
from auditor.spec import built_in_packs

USES = built_in_packs()[0].uses

EVENTS = """
import torch

class Ticket:
    def __init__(self, floors):
        self.marks = [torch.cuda.Event() for _ in range(floors)]

    def punch(self, floor):
        self.marks[floor].record()

    def wait(self, floor):
        torch.cuda.current_stream().wait_event(self.marks[floor])
"""
"""A counter of one device event a layer."""

SHELF = """
class Shelf:
    def __init__(self, first, floors):
        self.first = first
        self.rows = [torch.zeros(8, 8) for _ in range(floors)]
        self.ticket = None

    def take(self, ticket: Ticket):
        self.ticket = ticket

    def fetch(self, floor):
        if self.ticket is not None:
            self.ticket.wait(floor - self.first)
        return self.rows[floor - self.first].view(4, 16)

    def peek(self, floor):
        return self.rows[floor - self.first]

    def put(self, floor, where, what):
        self.rows[floor - self.first][where] = what

    def weight(self, floor):
        return self.rows[floor - self.first].nbytes
"""
"""A pool that is given the counter, with an accessor that waits and one that does not."""


def mined(*sources: str, **modules: str) -> Learned:
    """What is learned of one module of these parts, and of further ones by name."""
    files = {name: dedent(text).encode() for name, text in modules.items()}
    if sources:
        files["shop"] = "\n".join(map(dedent, sources)).encode()
    read: set[str] = set()

    def supply(wanted: Wanted) -> list[ModuleFacts]:
        new = [name for name in sorted(files) if name not in read and wanted.fits(files[name])]
        read.update(new)
        random.Random(len(read)).shuffle(new)  # in which order files come says nothing
        return [extract(f"{name}.py", name, False, files[name]) for name in new]

    return learn(files, supply, USES)
