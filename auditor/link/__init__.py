"""Room ``link``: files become one program. Names across modules, class hierarchy (C3), points-to of every receiver.

An *abstract object* stands for all that a program makes at one place (its allocation site); a *frame* is a function in
one context. The linker works on facts alone: it never sees a file. What it still would have to read it returns as
``Needs``; what it cannot resolve has an empty set, never a guess.
"""

from auditor.link.annotations import annotated_class
from auditor.link.constraints import Node
from auditor.link.delegates import Step
from auditor.link.demand import link_on_demand
from auditor.link.derivation import Reverse
from auditor.link.hierarchy import Hierarchy
from auditor.link.linker import Linker
from auditor.link.narrowing import access_path, edge_condition, successors, value_of_path
from auditor.link.needs import NO_NEEDS, Needs, needs
from auditor.link.objects import (
    Bound,
    ClassObject,
    Container,
    External,
    ExternalInstance,
    Function,
    Instance,
    Module,
    Object,
    Partial,
    Super,
)
from auditor.link.program import Code, Frame
from auditor.link.scopes import Scopes
from auditor.link.whole import link_whole

__all__ = [
    "NO_NEEDS",
    "Bound",
    "ClassObject",
    "Code",
    "Container",
    "External",
    "ExternalInstance",
    "Frame",
    "Function",
    "Hierarchy",
    "Instance",
    "Linker",
    "Module",
    "Needs",
    "Node",
    "Object",
    "Partial",
    "Reverse",
    "Scopes",
    "Step",
    "Super",
    "access_path",
    "annotated_class",
    "edge_condition",
    "link_on_demand",
    "link_whole",
    "needs",
    "successors",
    "value_of_path",
]
