"""Random edits of Python files that change no meaning: what a person or a formatter does to code all day."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable

Edit = Callable[[str, random.Random], str]


def lines_between(text: str, chance: random.Random) -> str:
    """Comments and empty lines between statements."""
    lines = text.split("\n")
    starts = sorted({node.lineno for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)}, reverse=True)
    for start in starts:
        decorated = lines[start - 1].lstrip().startswith(("elif", "else", "except"))
        if chance.random() < 0.2 and not decorated:
            lines.insert(start - 1, chance.choice(["", "# a comment", "        # one that is indented"]))
    return "\n".join(lines)


def another_layout(text: str, _chance: random.Random) -> str:
    """All comments gone, all statements on one line, quotes and parentheses as ast likes them."""
    return ast.unparse(ast.parse(text)) + "\n"


def locals_renamed(text: str, chance: random.Random) -> str:
    """Local variables of some functions get other names."""
    tree = ast.parse(text)
    for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
        if chance.random() < 0.7:
            _rename(function)
    return ast.unparse(tree) + "\n"


def _rename(function: ast.FunctionDef) -> None:
    nodes = list(ast.walk(function))
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    taken = {node.arg for node in nodes if isinstance(node, ast.arg)}
    taken |= {name for node in nodes if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}
    for node in nodes:
        if isinstance(node, ast.Name) and node.id in stored - taken:
            node.id += "_renamed"


def order_changed(text: str, chance: random.Random) -> str:
    """Methods of classes change places."""
    tree = ast.parse(text)
    for cls in [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]:
        places = [number for number, node in enumerate(cls.body) if isinstance(node, ast.FunctionDef)]
        shuffled = [cls.body[number] for number in chance.sample(places, len(places))]
        for number, node in zip(places, shuffled, strict=True):
            cls.body[number] = node
    return ast.unparse(tree) + "\n"


def neighbours_added(text: str, chance: random.Random) -> str:
    """Functions, classes and methods that nobody calls."""
    tree = ast.parse(text)
    number = chance.randrange(1000)
    tree.body += ast.parse(
        f"def unrelated_{number}(x):\n    y = x + 1\n    return y\nclass Unrelated{number}:\n    z = 1\n"
    ).body
    for cls in [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]:
        if chance.random() < 0.3:
            cls.body += ast.parse(f"def unrelated_{number}(self):\n    return {number}\n").body
    return ast.unparse(tree) + "\n"


def temporaries(text: str, chance: random.Random) -> str:
    """``return x`` becomes two statements."""

    class Split(ast.NodeTransformer):
        def visit_Return(self, node: ast.Return) -> ast.Return | list[ast.stmt]:
            if node.value is None or chance.random() < 0.5:
                return node
            kept = ast.Assign([ast.Name("returned", ast.Store())], node.value, lineno=node.lineno)
            return [kept, ast.Return(ast.Name("returned", ast.Load()))]

    return ast.unparse(Split().visit(ast.parse(text))) + "\n"


EDITS: tuple[Edit, ...] = (
    lines_between,
    another_layout,
    locals_renamed,
    order_changed,
    neighbours_added,
    temporaries,
)
