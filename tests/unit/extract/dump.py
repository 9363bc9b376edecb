"""Facts as text, one instruction a line, for tests to read and to compare."""

from __future__ import annotations

from typing import Any

from auditor.extract import extract
from auditor.facts import (
    NOTHING,
    Argument,
    Bind,
    Branch,
    Choice,
    Const,
    Delete,
    Exit,
    FunctionFacts,
    Jump,
    ModuleFacts,
    Phi,
    SetAttr,
    SetItem,
    TypeExpr,
    Unpack,
)


def facts(source: str, *, module: str = "pkg.mod", is_package: bool = False) -> ModuleFacts:
    """Extract a file that has no problems."""
    made = extract("pkg/mod.py", module, is_package, source.encode())
    assert not made.problems, made.problems
    return made


def function(source: str, qualname: str = "f") -> FunctionFacts:
    """Extract one function of a file."""
    return next(f for f in facts(source).functions if f.qualname == qualname)


def dump(made: FunctionFacts) -> str:
    """Print the blocks of a function."""
    lines = []
    for number, block in enumerate(made.blocks):
        handlers = "".join(f" !{handler}" for handler in block.handlers)
        lines.append(f"{number}:{handlers}")
        lines += [f"  {_instruction(i)}" for i in block.instructions]
        lines.append(f"  {_end(block.end)}")
    return "\n".join(lines)


def _instruction(i: Any) -> str:
    if isinstance(i, Phi):
        return f"v{i.dst} = phi " + " ".join(f"{source}:{_value(value)}" for source, value in i.choices)
    effect = isinstance(i, Bind | SetAttr | SetItem | Exit | Delete)
    shown = [_field(i, name) for name in i._fields if name not in ("dst", "at")]
    text = " ".join([type(i).__name__.lower(), *[part for part in shown if part]])
    return text if effect else f"v{i.dst} = {text}"


def _value(value: int) -> str:
    return "-" if value == NOTHING else f"v{value}"


_VALUES = {"base", "func", "iterable", "source", "manager"}


def _field(i: Any, name: str) -> str:
    part = getattr(i, name)
    if (
        name in _VALUES
        or (name == "index" and not isinstance(i, Unpack))
        or (name == "value" and not isinstance(i, Const))
    ):
        return _value(part)
    if isinstance(part, TypeExpr):
        return type_text(part)
    if isinstance(part, tuple):
        return "(" + ", ".join(_element(element) for element in part) + ")"
    return repr(part) if isinstance(i, Const) or part == "" else str(part)


def _element(part: Any) -> str:
    if isinstance(part, Argument):
        mark = {"pos": "", "key": f"{part.name}="}.get(part.kind, part.kind)
        return mark + _value(part.value)
    if isinstance(part, tuple):
        return f"{part[0]}={_value(part[1])}"
    return _value(part)


def type_text(kind: TypeExpr) -> str:
    return kind.name + (f"[{', '.join(type_text(arg) for arg in kind.args)}]" if kind.args else "")


def _end(end: Any) -> str:
    match end:
        case Jump(target=target):
            return f"jump {target}"
        case Branch(test=test, then=then, orelse=orelse):
            return f"branch {_value(test)} {then} {orelse}"
        case Choice(targets=targets):
            return "choice " + " ".join(map(str, targets))
    return f"{type(end).__name__.lower()} {_value(end.value)}"
