"""The import contract "a room is entered by its front door": nobody outside a room imports a module inside it.

``protected`` cannot say this: it would also forbid a room's own modules to import one another.
"""

from __future__ import annotations

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


class FrontDoors(Contract):
    """For each room, an importer from outside of a module *inside* the room is an intruder."""

    rooms = fields.ListField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        rooms: list[str] = self.contract_options["rooms"]
        intruders = [entry for room in rooms for entry in intrusions(graph, room)]
        return ContractCheck(kept=not intruders, metadata={"intruders": intruders})

    def render_broken_contract(self, check: ContractCheck) -> None:
        for importer, inner, line in check.metadata["intruders"]:
            output.print_error(f"{importer}:{line} imports {inner}: import from the room itself", bold=False)


def intrusions(graph: ImportGraph, room: str) -> list[tuple[str, str, int]]:
    """List (importer, inner module, line) of every import that goes round the front door of room."""
    found = []
    for inner in sorted(graph.find_descendants(room)):
        for importer in sorted(graph.find_modules_that_directly_import(inner)):
            if importer != room and not importer.startswith(f"{room}."):
                details = graph.get_import_details(importer=importer, imported=inner)
                found.append((importer, inner, details[0]["line_number"] if details else 0))
    return found
