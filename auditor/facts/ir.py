"""The vocabulary of facts: one file of Python as a small register program.

Every function is a control-flow graph of basic blocks in static single assignment form (Cytron et al. 1991): each
instruction defines at most one *value*, a number unique in its function, and each local variable has one value a
definition, joined by ``Phi``. Expressions are flattened in Python's evaluation order, so "before" inside one expression
is "before" in a block, and ``and``/``or``/``if-else``/comprehensions are real branches.

The vocabulary is closed: what the frontend cannot express becomes ``Opaque`` with the reason, never an exception. It
knows Python and nothing of engines, pools or gates, so editing a rule never re-parses a file.

Positions are (line, column), both from 1, columns in characters. Named tuples are used (not dataclasses) because a
large tree holds a million of them: they are frozen, small, quick to build and to send between processes.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

Value: TypeAlias = int
"""A value of one function: the number of the instruction that defines it. ``NOTHING`` where there is none."""

NOTHING: Value = -1


class At(NamedTuple):
    """Where in the file: the place a reader would point at (of a call or an attribute: its name)."""

    line: int
    column: int


class TypeExpr(NamedTuple):
    """An annotation or base class as written: ``Optional[a.B]`` is ``TypeExpr("Optional", (TypeExpr("a.B", ()),))``.

    ``X | Y`` has the name ``"|"``; a list such as in ``Callable[[X], Y]`` has the name ``"[]"``; a literal has the name
    ``"="`` followed by its source text (of a text its ``repr``; ``None`` is the name ``"None"``); what is none of these
    has the name ``"?"``. String annotations are already parsed.
    """

    name: str
    args: tuple[TypeExpr, ...]


class Argument(NamedTuple):
    """One argument of a call. ``kind``: ``"pos"``, ``"key"`` (then ``name``), ``"*"`` or ``"**"``."""

    kind: str
    name: str
    value: Value


# ---------------------------------------------------------------- instructions


class Param(NamedTuple):
    """The value a parameter has on entry. They stand first in block 0, in the order of ``FunctionFacts.params``."""

    dst: Value
    name: str
    at: At


class Const(NamedTuple):
    """A literal: None, a bool, int, float or str. Bytes, complex, Ellipsis and texts of more than 2,000 characters are
    ``Opaque``; a text that is a statement of its own (a docstring) is left out.
    """

    dst: Value
    value: bool | int | float | str | None
    at: At


class Name(NamedTuple):
    """Read a name that is not a plain local here: of an enclosing function, the module, or a builtin."""

    dst: Value
    name: str
    at: At


class Attr(NamedTuple):
    """``base.name`` read."""

    dst: Value
    base: Value
    name: str
    at: At


class Item(NamedTuple):
    """``base[index]`` read. A slice is a ``Build`` of kind ``"slice"``."""

    dst: Value
    base: Value
    index: Value  # type: ignore[assignment]  # hides tuple.index, which nothing needs
    at: At


class Call(NamedTuple):
    """``func(arguments)``. ``at`` is that of the called name (of ``a.b.c()`` the ``c``), of what has none the bracket;
    of the application of a decorator the decorator's name.
    """

    dst: Value
    func: Value
    arguments: tuple[Argument, ...]
    at: At


class Build(NamedTuple):
    """A display. ``kind``: tuple, list, set, dict (keys and values alternate; ``**x`` is NOTHING, x), slice (lower,
    upper, step, NOTHING where left out), string (the values inside an f-string).

    A comprehension is a loop followed by a Build of kind ``list``, ``set``, ``dict`` or ``generator``, whose elements
    are the Phi of the element of the last round and NOTHING (no round).
    """

    dst: Value
    kind: str
    elements: tuple[Value, ...]
    at: At


class Op(NamedTuple):
    """An operator on operands: ``+ - * / // % ** @ << >> & | ^ == != < <= > >= is "is not" in "not in" not neg pos ~``;
    ``*`` of one operand is a starred element of a display or base; the tests of a match statement: ``match-class``
    (subject, class), ``match-shape`` (subject), else ``==`` and ``is``; and ``match-exception`` (exception, class), the
    test of an ``except`` clause.
    """

    dst: Value
    operator: str
    operands: tuple[Value, ...]
    at: At


class Phi(NamedTuple):
    """The value of a variable where paths join: (predecessor block, value) pairs; NOTHING where it is unbound."""

    dst: Value
    choices: tuple[tuple[int, Value], ...]


class Iterate(NamedTuple):
    """The next element of an iterable (``for``, comprehension; also ``async for``). It stands first in the body of the
    loop; the head of the loop ends with a Choice of the body and what follows when there is no element.
    """

    dst: Value
    iterable: Value
    at: At


class Unpack(NamedTuple):
    """Element ``index`` of an unpacked value; ``index`` is -1 for the starred target (a list) and counts from the end,
    below -1, after it: of ``a, *b, c = v`` they are 0, -1, -2."""

    dst: Value
    source: Value
    index: int  # type: ignore[assignment]  # hides tuple.index, which nothing needs
    at: At


class Declare(NamedTuple):
    """``source`` under an annotation: ``x: T = source``, a narrowed match capture or a caught exception.

    Without a value ``source`` is NOTHING and nothing flows: ``x: T`` is this alone (``FunctionFacts.names`` has the
    name), ``base.x: T`` is followed by a SetAttr of it.
    """

    dst: Value
    source: Value
    type: TypeExpr
    at: At


class Closure(NamedTuple):
    """A ``def`` or ``lambda`` executed: the function object. ``defaults`` are the values of its parameter defaults by
    parameter name. Decorators follow as ``Call`` instructions."""

    dst: Value
    function: str
    defaults: tuple[tuple[str, Value], ...]
    at: At


class Class(NamedTuple):
    """A ``class`` statement executed: its body, which is the function of kind class with the qualname ``name``, and the
    class object. ``bases`` as values; keywords such as ``metaclass``.
    """

    dst: Value
    name: str
    bases: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]
    at: At


class Import(NamedTuple):
    """An import binds a value: ``import a.b`` binds module ``a`` (name ``""``), ``import a.b as c`` module ``a.b``;
    ``from m import n`` is (m, n). Relative imports are already absolute. ``from m import *`` has the name ``"*"``."""

    dst: Value
    module: str
    name: str
    at: At


class Bind(NamedTuple):
    """Store into a name that others can see: a module global, a class attribute, a variable that a nested function
    reads, a ``global``/``nonlocal`` name. ``scope`` is the qualified name (in the module) of the function that owns it;
    "" is the module."""

    scope: str
    name: str
    value: Value
    at: At


class SetAttr(NamedTuple):
    """``base.name = value``."""

    base: Value
    name: str
    value: Value
    at: At


class SetItem(NamedTuple):
    """``base[index] = value``; an augmented assignment ``base[index] += x`` reads first."""

    base: Value
    index: Value  # type: ignore[assignment]  # hides tuple.index, which nothing needs
    value: Value
    at: At


class Enter(NamedTuple):
    """``with manager as dst`` begins (also ``async with``)."""

    dst: Value
    manager: Value
    at: At


class Exit(NamedTuple):
    """The ``with`` block of ``manager`` ends, on this path: by its end, by ``return``, ``break`` or ``continue``, and
    by an exception if that is caught in this function. An exception that leaves the function leaves without Exit.
    """

    manager: Value
    at: At


class Yield(NamedTuple):
    """``dst = yield value``; ``delegate`` for ``yield from``."""

    dst: Value
    value: Value
    delegate: bool
    at: At


class Await(NamedTuple):
    """``dst = await value``."""

    dst: Value
    value: Value
    at: At


class Delete(NamedTuple):
    """``del base.name`` or ``del base[...]`` (name ``""``). ``del x`` of a name only unbinds it."""

    base: Value
    name: str
    at: At


class Opaque(NamedTuple):
    """A value the vocabulary does not describe, with the reason."""

    dst: Value
    reason: str
    at: At


Instruction: TypeAlias = (
    Param
    | Const
    | Name
    | Attr
    | Item
    | Call
    | Build
    | Op
    | Phi
    | Iterate
    | Unpack
    | Declare
    | Closure
    | Class
    | Import
    | Bind
    | SetAttr
    | SetItem
    | Enter
    | Exit
    | Yield
    | Await
    | Delete
    | Opaque
)

# ---------------------------------------------------------------- terminators


class Jump(NamedTuple):
    """Go on at ``target``."""

    target: int


class Branch(NamedTuple):
    """Go to ``then`` where ``test`` is true, else to ``orelse``. ``and``/``or``/``not`` are already taken apart."""

    test: Value
    then: int
    orelse: int
    at: At


class Choice(NamedTuple):
    """Go to one of ``targets``; which one no value tells: a loop (body, end), a ``with`` that may suppress an exception
    (what follows, raise again), ``except*`` (what follows, raise the rest).
    """

    targets: tuple[int, ...]
    at: At


class Return(NamedTuple):
    """Leave the function with ``value``."""

    value: Value
    at: At


class Raise(NamedTuple):
    """Leave by an exception (or reach the handler of the block)."""

    value: Value
    at: At


Terminator: TypeAlias = Jump | Branch | Choice | Return | Raise


class Block(NamedTuple):
    """A basic block. ``handlers``: the block (one, or none) that an exception raised inside reaches; inside a ``try``
    every statement is a block of its own, so that the state at a handler is the state at the start of the block.

    A handler starts with the Opaque ``exception``; then come the tests of the ``except`` clauses one after the other,
    the body of a ``finally``, or the Exit of a ``with``; and a Raise of it where it is not dealt with.
    """

    instructions: tuple[Instruction, ...]
    end: Terminator
    handlers: tuple[int, ...]


# ---------------------------------------------------------------- declarations


class ParamFacts(NamedTuple):
    """A parameter. ``kind``: ``"posonly"``, ``"pos"``, ``"*"``, ``"key"`` or ``"**"``."""

    name: str
    kind: str
    has_default: bool
    annotation: TypeExpr | None


class FunctionFacts(NamedTuple):
    """A function, lambda, class body or module body. The module body comes first, the others in source order.

    ``qualname`` is relative to the module and dotted without marks (``C.f``, ``f.g``, ``f.<lambda1>``); "" is the
    module body. Where a scope defines a name again (an overload, a property's setter, another branch), the later ones
    are ``C.f#2``, ``C.f#3``. ``kind``: module, class, function, lambda. ``scope`` is the qualname of the enclosing one
    (of the module: ""). ``decorators``: dotted names, of a call that of the callee. ``at``: the keyword. ``names``: for
    values that are a local variable's, its name. ``blocks[0]`` is the entry; unreachable blocks are left out.
    """

    qualname: str
    name: str
    kind: str
    scope: str
    params: tuple[ParamFacts, ...]
    returns: TypeExpr | None
    decorators: tuple[str, ...]
    is_async: bool
    is_generator: bool
    at: At
    end_line: int
    blocks: tuple[Block, ...]
    names: dict[Value, str]


class FieldFacts(NamedTuple):
    """A class-level declaration ``name: annotation [= default]`` or ``name = default``."""

    name: str
    annotation: TypeExpr | None
    has_default: bool
    at: At


class ClassFacts(NamedTuple):
    """A class. ``bases`` and ``decorators`` as written (dotted names; a subscripted base without its subscript, a call
    by the called name). ``methods``: its own functions in order, each the last part of its qualname (``f``, ``f#2``).
    """

    qualname: str
    name: str
    scope: str
    bases: tuple[TypeExpr, ...]
    keywords: tuple[tuple[str, str], ...]
    decorators: tuple[str, ...]
    fields: tuple[FieldFacts, ...]
    methods: tuple[str, ...]
    at: At
    end_line: int


class Problem(NamedTuple):
    """Something that could not be read as written; the rest of the file was."""

    line: int
    what: str


class ModuleFacts(NamedTuple):
    """Everything the rest of the program knows of one file. ``path`` is POSIX and relative to the audited root."""

    path: str
    module: str
    is_package: bool
    functions: tuple[FunctionFacts, ...]
    classes: tuple[ClassFacts, ...]
    problems: tuple[Problem, ...]
