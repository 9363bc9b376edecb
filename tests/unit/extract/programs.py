"""Random small programs that end, for differential tests. A seed and a size name a program."""

from __future__ import annotations

import random

NAMES = ("a", "b", "c")


def program(seed: int, size: int) -> str:
    """Write a program: a function with nested ones, called at the end, and module-level code."""
    writer = _Writer(random.Random(seed), size)
    writer.line(0, "a = t(0)")
    writer.line(0, "b = t(1)")
    writer.line(0, "c = t(2)")
    writer.function(0, "main", 3)
    if writer.flip(0.4):
        writer.block(0, 2, loop=False, function=False)
    if writer.flip(0.3):
        writer.klass(0)
    writer.line(0, "result = main(t(3), t(4))")
    return "\n".join(writer.lines) + "\n"


class _Writer:
    def __init__(self, rng: random.Random, size: int) -> None:
        self.rng = rng
        self.size = size
        self.lines: list[str] = []
        self.number = 5
        self.functions: list[str] = []
        self.walrus = True
        self.closures = True

    def flip(self, chance: float = 0.5) -> bool:
        return self.rng.random() < chance

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def fresh(self) -> int:
        self.number += 1
        return self.number

    # ------------------------------------------------------------ definitions

    def function(self, depth: int, name: str, budget: int) -> None:
        outer = self.functions
        self.functions = list(outer)
        default = f"q=t({self.fresh()})" if self.flip(0.3) else "q"
        for _ in range(self.rng.randrange(2) if depth else 0):
            self.line(depth, f"@deco({self.fresh()})")
        self.line(depth, f"def {name}(p, {default}):")
        if depth and self.flip(0.4):
            self.line(depth + 1, f"nonlocal {self.rng.choice(NAMES)}")
        elif not depth and self.flip(0.2):
            self.line(depth + 1, "global c")
        declared = (
            self.lines[-1].rpartition(" ")[2] if "local " in self.lines[-1] or "global " in self.lines[-1] else ""
        )
        for variable in NAMES:
            if variable != declared:
                self.line(depth + 1, f"{variable} = t({self.fresh()})")
        self.block(depth + 1, budget, loop=False, function=True)
        self.line(depth + 1, f"return {self.expression(2)}")
        self.functions = [*outer, name]

    def klass(self, depth: int) -> None:
        self.line(depth, "class K:")
        self.line(depth + 1, f"a = {self.expression(1)}")
        self.line(depth + 1, f"v = [{self.simple()} for a in it({self.fresh()})]")
        self.line(depth + 1, f"def m(self, p): return t({self.fresh()}) + a + p")
        self.line(depth, f"K().m(t({self.fresh()}))")

    # ------------------------------------------------------------ statements

    def block(self, depth: int, budget: int, *, loop: bool, function: bool) -> None:
        for _ in range(self.rng.randint(1, max(1, self.size))):
            self.statement(depth, budget, loop=loop, function=function)

    def statement(self, depth: int, budget: int, *, loop: bool, function: bool) -> None:
        simple = [self.assign, self.augment, self.effect, self.unpack, self.attribute, self.annotate]
        compound = [self.if_, self.for_, self.while_, self.try_, self.try_, self.with_, self.match_]
        if budget <= 0 or self.flip(0.45):
            if self.flip(0.15):
                self.leave(depth, loop=loop, function=function)
            else:
                self.rng.choice(simple)(depth)
        elif function and depth < 3 and self.flip(0.15):
            name = f"g{self.fresh()}"
            self.function(depth, name, budget - 1)
            self.line(depth, f"b = {name}({self.simple()}, {self.simple()})")
        else:
            self.rng.choice(compound)(depth, budget - 1, loop, function)

    def leave(self, depth: int, *, loop: bool, function: bool) -> None:
        ways = [f"raise boom({self.fresh()})", f"boom({self.fresh()})", f"assert {self.test(1)}, t({self.fresh()})"]
        if loop:
            ways += ["break", "continue"] * 2
        if function:
            ways += [f"return {self.expression(1)}"] * 2
        self.line(depth, self.rng.choice(ways))

    def assign(self, depth: int) -> None:
        targets = " = ".join(self.rng.choice(NAMES) for _ in range(self.rng.choice((1, 1, 1, 2))))
        self.line(depth, f"{targets} = {self.expression(3)}")

    def augment(self, depth: int) -> None:
        self.line(depth, f"{self.rng.choice(NAMES)} += {self.expression(2)}")

    def annotate(self, depth: int) -> None:
        self.line(depth, f"rec.y: 'int' = {self.expression(1)}")

    def effect(self, depth: int) -> None:
        self.line(depth, self.expression(3))

    def unpack(self, depth: int) -> None:
        forms = ["a, b = some(%d, 2)", "a, (b, c) = t(%d), some(1, 2)", "a, *_ = some(%d, 3)", "*_, c = some(%d, 4)"]
        self.line(depth, self.rng.choice(forms) % self.fresh())

    def attribute(self, depth: int) -> None:
        forms = [
            "rec.x = %s",
            "rec[t(1)] = %s",
            "rec.x += %s",
            "rec[t(2)] += %s",
            "del rec[t(%s)]",
            "rec[t(3):%s] = t(9)",
        ]
        self.line(depth, self.rng.choice(forms) % self.expression(1))

    def if_(self, depth: int, budget: int, loop: bool, function: bool) -> None:
        self.line(depth, f"if {self.test(2)}:")
        self.block(depth + 1, budget, loop=loop, function=function)
        if self.flip(0.3):
            self.line(depth, f"elif {self.test(2)}:")
            self.block(depth + 1, budget, loop=loop, function=function)
        if self.flip():
            self.line(depth, "else:")
            self.block(depth + 1, budget, loop=loop, function=function)

    def for_(self, depth: int, budget: int, loop: bool, function: bool) -> None:
        self.line(depth, f"for {self.rng.choice(NAMES)} in it({self.fresh()}):")
        self.block(depth + 1, budget, loop=True, function=function)
        self.otherwise(depth, budget, loop, function)

    def while_(self, depth: int, budget: int, loop: bool, function: bool) -> None:
        self.line(depth, f"while {self.test(1)} and w({self.fresh()}):" if self.flip() else "while True:")
        if self.lines[-1].endswith("while True:"):
            self.line(depth + 1, f"if not w({self.fresh()}): break")
        self.block(depth + 1, budget, loop=True, function=function)
        if "True" not in self.lines[-1]:
            self.otherwise(depth, budget, loop, function)

    def otherwise(self, depth: int, budget: int, loop: bool, function: bool) -> None:
        if self.flip(0.3):
            self.line(depth, "else:")
            self.block(depth + 1, budget, loop=loop, function=function)

    def try_(self, depth: int, budget: int, loop: bool, function: bool) -> None:
        self.line(depth, "try:")
        self.block(depth + 1, budget, loop=loop, function=function)
        handlers = self.rng.randrange(3)
        for number in range(handlers):
            kind = self.rng.choice(("ValueError", "KeyError", "(ValueError, KeyError)", "Exception as e", "kind(%d)"))
            if number == handlers - 1 and self.flip(0.2):
                kind = ""
            if "%d" in kind:
                kind = kind % self.fresh()
            self.line(depth, f"except {kind}:".replace(" :", ":"))
            self.block(depth + 1, budget, loop=loop, function=function)
            if self.flip(0.2):
                self.line(depth + 1, "raise")
        if handlers and self.flip(0.3):
            self.line(depth, "else:")
            self.block(depth + 1, budget, loop=loop, function=function)
        if not handlers or self.flip(0.4):
            self.line(depth, "finally:")
            self.block(depth + 1, budget, loop=loop, function=function)

    def with_(self, depth: int, budget: int, loop: bool, function: bool) -> None:
        items = [
            self.rng.choice(("man(%d)", "man(%d) as a", "suppress(%d)")) % self.fresh()
            for _ in range(1 + self.flip(0.3))
        ]
        self.line(depth, f"with {', '.join(items)}:")
        self.block(depth + 1, budget, loop=loop, function=function)

    def match_(self, depth: int, budget: int, loop: bool, function: bool) -> None:
        self.line(depth, f"match {self.rng.choice(('t(%d)', 'some(%d, 2)', 'some(%d, 3)')) % self.fresh()}:")
        patterns = [
            "1 | 2",
            "[a, b]",
            "(1, _) | (_, 3)",
            "[1, *_, c] | [c, _]",
            "3 as b",
            "[a, _, 2 | 3]",
            "[(1 | 2) as b, a]",
        ]
        for _ in range(self.rng.randint(1, 3)):
            guard = f" if {self.test(1)}" if self.flip(0.4) else ""
            self.line(depth + 1, f"case {self.rng.choice(patterns)}{guard}:")
            self.block(depth + 2, budget - 1, loop=loop, function=function)
        if self.flip(0.4):
            self.line(depth + 1, "case _:")
            self.block(depth + 2, budget - 1, loop=loop, function=function)

    # ------------------------------------------------------------ expressions

    def simple(self) -> str:
        return self.rng.choice((self.rng.choice(NAMES), f"t({self.fresh()})", str(self.rng.randrange(5))))

    def test(self, budget: int) -> str:
        if budget <= 0 or self.flip(0.4):
            return f"w({self.fresh()})"
        forms = [
            lambda: f"{self.test(budget - 1)} and {self.test(budget - 1)}",
            lambda: f"{self.test(budget - 1)} or {self.test(budget - 1)}",
            lambda: f"not {self.test(0)}",
            lambda: f"not ({self.test(budget - 1)} or {self.test(budget - 1)})",
            lambda: f"{self.simple()} < {self.simple()} <= {self.simple()}",
            lambda: f"{self.simple()} == {self.simple()}",
            lambda: self.named(self.simple()),
            lambda: f"({self.test(0)} if {self.test(0)} else {self.test(0)})",
            lambda: self.rng.choice(("True", "False", "0", "1")),
        ]
        return self.rng.choice(forms)()

    def expression(self, budget: int) -> str:
        if budget <= 0:
            return self.simple()
        inner = lambda: self.expression(budget - 1)  # noqa: E731
        forms = [
            self.simple,
            lambda: f"t({inner()}) + {inner()}",
            lambda: f"({inner()} if {self.test(1)} else {inner()})",
            lambda: f"({inner()} and {inner()})",
            lambda: f"({inner()} or {inner()})",
            lambda: f"({inner()} < {inner()} < {inner()})",
            lambda: self.comprehension(budget),
            lambda: self.closure(budget),
            lambda: f"sum2({inner()}, k={inner()})",
            lambda: f"sum2(*some({self.fresh()}, 2))",
            lambda: f"rec[{inner()}]",
            lambda: f"rec.m({inner()})",
            lambda: f"-{self.simple()}",
            lambda: f"len2(({inner()}, [{inner()}], {{{self.simple()}: {inner()}}}))",
            lambda: f'len3(f"{{{self.simple()}:>{{t({self.fresh()})}}}}")',
            lambda: self.named(inner()),
            lambda: f"boom({self.fresh()})" if self.flip(0.3) else self.simple(),
        ]
        return self.rng.choice(forms)()

    def named(self, value: str) -> str:
        return f"({self.rng.choice(NAMES)} := {value})" if self.walrus else value

    def comprehension(self, budget: int) -> str:
        """A comprehension; in it no lambda (told from outer variables by name only), no ``:=``."""
        before, self.closures, self.walrus = (self.closures, self.walrus), False, False
        first, second, test = self.expression(budget - 1), self.expression(budget - 1), self.test(1)
        iterables = f"it({self.fresh()})", f"it({self.fresh()})"
        self.closures, self.walrus = before
        if self.flip():
            return f"hide([{first} for a in {iterables[0]} if {test}])"
        return f"hide({{{first}: {second} for a in {iterables[0]} for b in {iterables[1]}}})"

    def closure(self, budget: int) -> str:
        """A lambda that is called at once; in it no ``:=``, which would bind its own variable, perhaps after a read."""
        if not self.closures:
            return self.simple()
        before, self.walrus = self.walrus, False
        body = self.expression(budget - 1)
        self.walrus = before
        return f"call(lambda u, v=t({self.fresh()}): {body} + u)"
