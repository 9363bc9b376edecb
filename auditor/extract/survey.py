"""One walk over a syntax tree in source order: where each node stands, and the scopes of the file.

LibCST keeps no positions; its metadata providers compute them at two to four times the cost of the parse. Here each
leaf of the walk takes the next equal word of the scanned text (see ``tokens``); between two leaves there can only be
keywords and brackets, so a walk that loses its way notices at once (``Drift``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from auditor.extract.scopes import Scope, resolve
from auditor.extract.tokens import Lines, Words

_BETWEEN = frozenset(
    {
        *("(", ")", "[", "]", "{", "}", "and", "as", "assert", "async", "await", "break", "class", "continue", "def"),
        *("del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda"),
        *("nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield"),
    }
)
_OPENING = frozenset("([{")
_CLOSING = frozenset(")]}")


class Drift(Exception):
    """Indicates that the walk and the words disagree (a bug here, never one of the file)."""


class Survey:
    """The result: ``where`` gives the offset of a node by its ``id``, ``scopes`` the scope that a node opens."""

    def __init__(self, words: Words) -> None:
        self.where: dict[int, int] = {}
        self.scopes: dict[int, Scope] = {}
        self.order: list[Scope] = []
        self._texts, self._offsets = words
        self._next = 0
        self._qualnames: dict[str, int] = {}
        self._visit: dict[type, Callable[[Any], None]] = {kind: getattr(self, name) for kind, name in _METHODS.items()}
        self.scope = Scope("module", None, "", "", 0)

    def run(self, module: cst.Module) -> None:
        """Walk the whole module."""
        self.order.append(self.scope)
        self.scopes[id(module)] = self.scope
        self._all(module.body)
        self.scope.last_offset = self._end()
        resolve(self.order)
        self._visit.clear()  # they are methods of this object, and nobody collects cycles here

    # ------------------------------------------------------------ words

    def take(self, text: str) -> int:
        """Take the next word equal to ``text`` and give its offset."""
        texts = self._texts
        index = self._next
        while texts[index] != text:
            if texts[index] not in _BETWEEN:
                raise Drift(f"expected {text!r}, found {texts[index]!r} at offset {self._offsets[index]}")
            index += 1
        self._next = index + 1
        return self._offsets[index]

    def _end(self, first: int | None = None) -> int:
        """Give where what was just walked ends. To an expression, from ``first`` on, belong the brackets it opened."""
        index = self._next
        texts = self._texts
        opened = len(texts)
        if first is not None:
            opened = sum((word in _OPENING) - (word in _CLOSING) for word in texts[first:index])
        while texts[index] in _CLOSING and opened > 0:
            index += 1
            opened -= 1
        return self._offsets[index - 1] + len(texts[index - 1]) if index else 0

    def _keyword(self, node: cst.CSTNode, text: str) -> None:
        self.where[id(node)] = self.take(text)

    def _all(self, nodes: Iterable[cst.CSTNode]) -> None:
        visit = self._visit
        for node in nodes:
            visit[node.__class__](node)

    def _one(self, node: cst.CSTNode) -> None:
        self._visit[node.__class__](node)

    def _maybe(self, node: cst.CSTNode | None) -> None:
        if node is not None:
            self._visit[node.__class__](node)

    def _parts(self, node: Any) -> None:
        for name in _PARTS[node.__class__]:
            part = getattr(node, name)
            if part is None or isinstance(part, cst.MaybeSentinel):
                continue
            if isinstance(part, cst.CSTNode):
                self._one(part)
            else:
                self._all(part)

    def _nothing(self, node: cst.CSTNode) -> None:
        pass

    # ------------------------------------------------------------ leaves

    def _name(self, node: cst.Name) -> None:
        text = node.value
        index = self._next
        if self._texts[index] == text:
            self._next = index + 1
            self.where[id(node)] = self._offsets[index]
        else:
            self.where[id(node)] = self.take(text)
        self.scope.reads.add(text)

    def _label(self, node: cst.Name) -> None:
        """A name that is no variable: an attribute, a keyword."""
        self.where[id(node)] = self.take(node.value)

    def _literal(self, node: cst.SimpleString | cst.Integer | cst.Float | cst.Imaginary) -> None:
        self.where[id(node)] = self.take(node.value)

    def _ellipsis(self, node: cst.Ellipsis) -> None:
        self._keyword(node, "...")

    # ------------------------------------------------------------ expressions

    def _open(self, node: cst.BaseExpression) -> None:
        for _ in node.lpar:
            self.take("(")

    def _first(self, node: Any, first: cst.CSTNode) -> None:
        """Visit the leading part of ``node``, which gives ``node`` its place."""
        if node.lpar:
            self._open(node)
        self._visit[first.__class__](first)
        self.where[id(node)] = self.where[id(first)]

    def _attribute(self, node: cst.Attribute) -> None:
        self._first(node, node.value)
        attr = node.attr
        self.where[id(attr)] = self.take(attr.value)

    def _call(self, node: cst.Call) -> None:
        self._first(node, node.func)
        bracket = self.take("(")
        for arg in node.args:
            if arg.keyword is not None:
                self._label(arg.keyword)
            value = arg.value
            self._visit[value.__class__](value)
        func = node.func
        if isinstance(func, cst.Attribute):
            self.where[-id(node)] = self.where[id(func.attr)]
        elif func.__class__ is cst.Name:
            self.where[-id(node)] = self.where[id(func)]
        else:
            self.where[-id(node)] = bracket

    def _subscript(self, node: cst.Subscript) -> None:
        self._first(node, node.value)
        self.take("[")
        for element in node.slice:
            self._parts(element.slice)

    def _binary(self, node: cst.BinaryOperation | cst.BooleanOperation) -> None:
        self._first(node, node.left)
        self._one(node.right)

    def _comparison(self, node: cst.Comparison) -> None:
        self._first(node, node.left)
        for target in node.comparisons:
            self._one(target.comparator)

    def _unary(self, node: cst.UnaryOperation) -> None:
        if node.lpar:
            self._open(node)
        if node.operator.__class__ is cst.Not:
            self._keyword(node, "not")
            self._one(node.expression)
        else:
            self._one(node.expression)
            self.where[id(node)] = self.where[id(node.expression)]

    def _conditional(self, node: cst.IfExp) -> None:
        self._first(node, node.body)
        self._one(node.test)
        self._one(node.orelse)

    def _named(self, node: cst.NamedExpr) -> None:
        self._first(node, node.target)
        self._bind(node.target, self.scope.host)
        self._one(node.value)

    def _await(self, node: cst.Await) -> None:
        self._keyword(node, "await")
        self._one(node.expression)

    def _yield(self, node: cst.Yield) -> None:
        self._keyword(node, "yield")
        self.scope.host.is_generator = True
        self._maybe(node.value)

    def _starred(self, node: cst.StarredElement) -> None:
        self._first(node, node.value)

    def _list(self, node: cst.List) -> None:
        self._keyword(node, "[")
        self._all(node.elements)

    def _brace(self, node: cst.Set | cst.Dict) -> None:
        self._keyword(node, "{")
        self._all(node.elements)

    def _tuple(self, node: cst.Tuple) -> None:
        if node.lpar:
            for _ in node.lpar:
                self._keyword(node, "(")
            self._all(node.elements)
        else:
            self._first(node, node.elements[0])
            self._all(node.elements[1:])

    def _element(self, node: cst.Element) -> None:
        self._one(node.value)
        self.where[id(node)] = self.where[id(node.value)]

    def _format(self, node: cst.FormattedString | cst.TemplatedString) -> None:
        self._keyword(node, node.start)
        self._all(node.parts)
        self.take(node.end)

    def _concatenated(self, node: cst.ConcatenatedString) -> None:
        self._first(node, node.left)
        self._one(node.right)

    def _comprehension(self, node: Any) -> None:
        if node.lpar and node.__class__ is cst.GeneratorExp:
            for _ in node.lpar:
                self._keyword(node, "(")
        elif node.__class__ is cst.GeneratorExp:
            self.where[id(node)] = self._offsets[self._next - 1]
        else:
            self._keyword(node, "[" if node.__class__ is cst.ListComp else "{")
        outer = self.scope
        scope = self._inline(node)
        elements = (node.key, node.value) if node.__class__ is cst.DictComp else _element_of(node)
        self._all(elements)
        clause = node.for_in
        first = True
        while clause is not None:
            self._one(clause.target)
            self.where[id(clause)] = self.where[id(clause.target)]
            self._bind(clause.target, scope)
            if first:
                self.scope = outer
            self._one(clause.iter)
            self.scope = scope
            first = False
            for condition in clause.ifs:
                self._one(condition.test)
            clause = clause.inner_for_in
        self.scope = outer

    def _inline(self, node: cst.CSTNode) -> Scope:
        scope = Scope("inline", self.scope, "", self.scope.host.qualname, len(self.order))
        self._enter(node, scope)
        return scope

    def _enter(self, node: cst.CSTNode, scope: Scope) -> None:
        self.scopes[id(node)] = scope
        self.order.append(scope)
        self.scope = scope

    def _lambda(self, node: cst.Lambda) -> None:
        if node.lpar:
            self._open(node)
        self._keyword(node, "lambda")
        first = self._next
        outer = self.scope
        host = outer.host
        host.lambdas += 1
        scope = self._hosted("lambda", f"<lambda{host.lambdas}>", node)
        self.scope = outer
        self._parameters(node.params, scope)
        self.scope = scope
        self._one(node.body)
        scope.last_offset = self._end(first)
        self.scope = outer

    # ------------------------------------------------------------ bindings

    def _bind(self, target: Any, scope: Scope) -> None:
        """Note the names that an assignment to ``target`` binds."""
        kind = target.__class__
        if kind is cst.Name:
            scope.bound.add(target.value)
        elif kind is cst.Tuple or kind is cst.List:
            for element in target.elements:
                self._bind(element.value, scope)
        elif kind is cst.StarredElement:
            self._bind(target.value, scope)

    def _assign(self, node: cst.Assign) -> None:
        for target in node.targets:
            self._one(target.target)
            self._bind(target.target, self.scope)
        self._one(node.value)
        self.where[id(node)] = self.where[id(node.targets[0].target)]

    def _annotated(self, node: cst.AnnAssign) -> None:
        self._one(node.target)
        self._bind(node.target, self.scope)
        self._annotation(node.annotation)
        self._maybe(node.value)
        self.where[id(node)] = self.where[id(node.target)]

    def _augmented(self, node: cst.AugAssign) -> None:
        self._one(node.target)
        self._bind(node.target, self.scope)
        self._one(node.value)
        self.where[id(node)] = self.where[id(node.target)]

    def _annotation(self, node: cst.CSTNode | None) -> None:
        """Walk an annotation: it is not evaluated, so its names are not read."""
        if node is None:
            return
        outer = self.scope
        self.scope = Scope("function", outer, "", "", 0)
        self._one(node.annotation if isinstance(node, cst.Annotation) else node)
        self.scope = outer

    def _alias(self, node: cst.ImportAlias) -> None:
        self._dotted(node.name)
        self.where[id(node)] = self.where[id(node.name)]
        bound: cst.CSTNode = node.name
        if node.asname is not None:
            bound = node.asname.name
            self._dotted(bound)
        while isinstance(bound, cst.Attribute):
            bound = bound.value
        self._bind(bound, self.scope)

    def _dotted(self, node: Any) -> None:
        if node.__class__ is cst.Attribute:
            self._dotted(node.value)
            self._label(node.attr)
            self.where[id(node)] = self.where[id(node.value)]
        else:
            self._label(node)

    def _import(self, node: cst.Import | cst.LazyImport) -> None:
        self._keyword(node, "lazy" if isinstance(node, cst.LazyImport) else "import")
        for alias in node.names:
            self._alias(alias)

    def _import_from(self, node: cst.ImportFrom | cst.LazyImportFrom) -> None:
        if isinstance(node, cst.LazyImportFrom):
            self._keyword(node, "lazy")
            self.take("from")
        else:
            self._keyword(node, "from")
        while self._texts[self._next] == "...":
            self._next += 1
        if node.module is not None:
            self._dotted(node.module)
        self.take("import")
        if not isinstance(node.names, cst.ImportStar):
            for alias in node.names:
                self._alias(alias)

    def _global(self, node: cst.Global | cst.Nonlocal) -> None:
        self._keyword(node, "global" if isinstance(node, cst.Global) else "nonlocal")
        names = self.scope.globals if isinstance(node, cst.Global) else self.scope.nonlocals
        for item in node.names:
            self._label(item.name)
            names.add(item.name.value)

    # ------------------------------------------------------------ statements

    def _simple(self, node: Any) -> None:
        """A statement that starts with its keyword."""
        self._keyword(node, _KEYWORDS[node.__class__])
        self._parts(node)

    def _suite(self, node: Any) -> None:
        self._all(node.body)

    def _expression(self, node: cst.Expr) -> None:
        value = node.value
        self._visit[value.__class__](value)
        self.where[id(node)] = self.where[id(value)]

    def _finally(self, node: cst.Finally) -> None:
        self._keyword(node, "finally")
        self._one(node.body)

    def _del(self, node: cst.Del) -> None:
        self._keyword(node, "del")
        self._one(node.target)
        self._bind(node.target, self.scope)

    def _if(self, node: cst.If) -> None:
        keyword = "elif" if self._texts[self._next] == "elif" or self._ahead() == "elif" else "if"
        self._keyword(node, keyword)
        self._one(node.test)
        self._one(node.body)
        self._maybe(node.orelse)

    def _ahead(self) -> str:
        index = self._next
        while self._texts[index] in _CLOSING:
            index += 1
        return self._texts[index]

    def _for(self, node: cst.For) -> None:
        if node.asynchronous is not None:
            self._keyword(node, "async")
            self.take("for")
        else:
            self._keyword(node, "for")
        self._one(node.target)
        self._bind(node.target, self.scope)
        self._one(node.iter)
        self._one(node.body)
        self._maybe(node.orelse)

    def _with(self, node: cst.With) -> None:
        if node.asynchronous is not None:
            self._keyword(node, "async")
            self.take("with")
        else:
            self._keyword(node, "with")
        if isinstance(node.lpar, cst.LeftParen):
            self.take("(")
        for item in node.items:
            self._one(item.item)
            self.where[id(item)] = self.where[id(item.item)]
            if item.asname is not None:
                self._one(item.asname.name)
                self._bind(item.asname.name, self.scope)
        self._one(node.body)

    def _handler(self, node: cst.ExceptHandler | cst.ExceptStarHandler) -> None:
        self._keyword(node, "except")
        self._maybe(node.type)
        if node.name is not None:
            self._one(node.name.name)
            self._bind(node.name.name, self.scope)
        self._one(node.body)

    # ------------------------------------------------------------ definitions

    def _hosted(self, kind: str, name: str, node: cst.CSTNode) -> Scope:
        """Open the scope of a definition under a qualified name that no other has."""
        outer = self.scope.host.qualname
        qualname = f"{outer}.{name}" if outer else name
        count = self._qualnames[qualname] = self._qualnames.get(qualname, 0) + 1
        if count > 1:
            qualname = f"{qualname}#{count}"
        scope = Scope(kind, self.scope, name, qualname, len(self.order))
        self._enter(node, scope)
        return scope

    def _decorators(self, node: cst.FunctionDef | cst.ClassDef) -> None:
        for decorator in node.decorators:
            self._one(decorator.decorator)
            self.where[id(decorator)] = self.where[id(decorator.decorator)]

    def _def(self, node: cst.FunctionDef) -> None:
        self._decorators(node)
        if node.asynchronous is not None:
            self._keyword(node, "async")
            self.take("def")
        else:
            self._keyword(node, "def")
        self._label(node.name)
        outer = self.scope
        outer.bound.add(node.name.value)
        self._type_parameters(node.type_parameters)
        scope = self._hosted("function", node.name.value, node)
        scope.last_offset = -1
        inner_parent = self._around(node, outer)
        scope.parent = inner_parent
        self.scope = outer
        self.take("(")
        self._parameters(node.params, scope)
        self._annotation(node.returns)
        self.scope = scope
        self._one(node.body)
        scope.last_offset = self._end()
        self.scope = outer

    def _around(self, node: cst.FunctionDef | cst.ClassDef, outer: Scope) -> Scope:
        """Give the scope that encloses a definition: that of its type parameters, if it has any."""
        if node.type_parameters is None:
            return outer
        return self.scopes[id(node.type_parameters)]

    def _class(self, node: cst.ClassDef) -> None:
        self._decorators(node)
        self._keyword(node, "class")
        self._label(node.name)
        outer = self.scope
        outer.bound.add(node.name.value)
        self._type_parameters(node.type_parameters)
        around = self._around(node, outer)
        self.scope = around
        for arg in (*node.bases, *node.keywords):
            if arg.keyword is not None:
                self._label(arg.keyword)
            self._one(arg.value)
        self.scope = outer
        scope = self._hosted("class", node.name.value, node)
        scope.parent = around
        self._one(node.body)
        scope.last_offset = self._end()
        self.scope = outer

    def _parameters(self, node: cst.Parameters, scope: Scope) -> None:
        for param in (*node.posonly_params, *node.params):
            self._parameter(param, scope)
        if isinstance(node.star_arg, cst.Param):
            self._parameter(node.star_arg, scope)
        for param in node.kwonly_params:
            self._parameter(param, scope)
        if node.star_kwarg is not None:
            self._parameter(node.star_kwarg, scope)

    def _parameter(self, node: cst.Param, scope: Scope) -> None:
        self._label(node.name)
        scope.bound.add(node.name.value)
        if node.annotation is not None:
            self._annotation(node.annotation)
        self._maybe(node.default)

    def _type_parameters(self, node: cst.TypeParameters | None) -> None:
        if node is None:
            return
        outer = self.scope
        self.take("[")
        scope = self._inline(node)
        for item in node.params:
            self._label(item.param.name)
            scope.bound.add(item.param.name.value)
            if isinstance(item.param, cst.TypeVar):
                self._annotation(item.param.bound)
            self._annotation(item.default)
        self.scope = outer

    def _type_alias(self, node: cst.TypeAlias) -> None:
        self._keyword(node, "type")
        self._label(node.name)
        self.scope.bound.add(node.name.value)
        self._type_parameters(node.type_parameters)
        self._annotation(node.value)

    # ------------------------------------------------------------ match

    def _match(self, node: cst.Match) -> None:
        self._keyword(node, "match")
        self._one(node.subject)
        for case in node.cases:
            self._keyword(case, "case")
            self._one(case.pattern)
            self._maybe(case.guard)
            self._one(case.body)

    def _capture(self, node: cst.Name | None) -> None:
        if node is not None:
            self._label(node)
            self.scope.bound.add(node.value)

    def _sequence(self, node: cst.MatchList | cst.MatchTuple) -> None:
        if isinstance(node, cst.MatchTuple):
            for _ in node.lpar:
                self._keyword(node, "(")
        elif node.lbracket is not None:
            self._keyword(node, "[")
        self._all(node.patterns)
        self.where.setdefault(id(node), self._offsets[self._next - 1])

    def _alternatives(self, node: cst.MatchOr) -> None:
        for _ in node.lpar:
            self.take("(")
        self._all(node.patterns)

    def _match_as(self, node: cst.MatchAs) -> None:
        self._maybe(node.pattern)
        if node.name is None and node.pattern is None:
            self.take("_")
        self._capture(node.name)

    def _match_star(self, node: cst.MatchStar) -> None:
        if node.name is None:
            self.take("_")
        self._capture(node.name)

    def _match_mapping(self, node: cst.MatchMapping) -> None:
        self._keyword(node, "{")
        for element in node.elements:
            self._one(element.key)
            self._one(element.pattern)
        self._capture(node.rest)

    def _match_class(self, node: cst.MatchClass) -> None:
        self._one(node.cls)
        self._all(node.patterns)
        for keyword in node.kwds:
            self._label(keyword.key)
            self._one(keyword.pattern)


class PlacedSurvey(Survey):
    """The same walk with the positions that LibCST computes: slow, for a file whose words and tree disagree."""

    def __init__(self, tree: cst.Module, lines: Lines) -> None:
        super().__init__(Words([""], [0]))
        self._lines = lines
        wrapper = MetadataWrapper(tree, unsafe_skip_copy=True)
        self._ranges = wrapper.resolve(PositionProvider)

    def take(self, text: str) -> int:
        """Give no place: ``run`` fills them in."""
        return 0

    def run(self, module: cst.Module) -> None:
        """Walk the whole module, and put every node where LibCST says."""
        super().run(module)
        for node, span in self._ranges.items():
            if id(node) in self.where:
                self.where[id(node)] = self._lines.offset(span.start.line, span.start.column)
            if id(node) in self.scopes:
                self.scopes[id(node)].last_offset = self._lines.offset(span.end.line, span.end.column)
        for node in self._ranges:
            if isinstance(node, cst.Call):
                func = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
                self.where[-id(node)] = self.where[id(func)]

    def _end(self, first: int | None = None) -> int:
        return 0


def _element_of(node: Any) -> tuple[cst.CSTNode, ...]:
    return (node.value,) if node.__class__ is cst.StarredDictComp else (node.elt,)


_KEYWORDS: dict[type, str] = {
    cst.Return: "return",
    cst.Raise: "raise",
    cst.Assert: "assert",
    cst.Pass: "pass",
    cst.Break: "break",
    cst.Continue: "continue",
    cst.While: "while",
    cst.Try: "try",
    cst.TryStar: "try",
}

_PARTS: dict[type, tuple[str, ...]] = {
    cst.Return: ("value",),
    cst.Raise: ("exc", "cause"),
    cst.Assert: ("test", "msg"),
    cst.Pass: (),
    cst.Break: (),
    cst.Continue: (),
    cst.While: ("test", "body", "orelse"),
    cst.Try: ("body", "handlers", "orelse", "finalbody"),
    cst.TryStar: ("body", "handlers", "orelse", "finalbody"),
    cst.From: ("item",),
    cst.Else: ("body",),
    cst.Index: ("value",),
    cst.Slice: ("lower", "upper", "step"),
    cst.DictElement: ("key", "value"),
    cst.StarredDictElement: ("value",),
    cst.FormattedStringExpression: ("expression", "format_spec"),
    cst.TemplatedStringExpression: ("expression", "format_spec"),
    cst.MatchValue: ("value",),
    cst.MatchSingleton: ("value",),
    cst.MatchSequenceElement: ("value",),
    cst.MatchOrElement: ("pattern",),
}

_METHODS: dict[type, str] = {
    **dict.fromkeys(_PARTS, "_parts"),
    **dict.fromkeys(_KEYWORDS, "_simple"),
    cst.Name: "_name",
    cst.SimpleString: "_literal",
    cst.Integer: "_literal",
    cst.Float: "_literal",
    cst.Imaginary: "_literal",
    cst.Ellipsis: "_ellipsis",
    cst.Attribute: "_attribute",
    cst.Call: "_call",
    cst.Subscript: "_subscript",
    cst.BinaryOperation: "_binary",
    cst.BooleanOperation: "_binary",
    cst.Comparison: "_comparison",
    cst.UnaryOperation: "_unary",
    cst.IfExp: "_conditional",
    cst.NamedExpr: "_named",
    cst.Await: "_await",
    cst.Yield: "_yield",
    cst.StarredElement: "_starred",
    cst.List: "_list",
    cst.Set: "_brace",
    cst.Dict: "_brace",
    cst.Tuple: "_tuple",
    cst.Element: "_element",
    cst.FormattedString: "_format",
    cst.TemplatedString: "_format",
    cst.FormattedStringText: "_nothing",
    cst.TemplatedStringText: "_nothing",
    cst.ConcatenatedString: "_concatenated",
    cst.ListComp: "_comprehension",
    cst.SetComp: "_comprehension",
    cst.DictComp: "_comprehension",
    cst.StarredDictComp: "_comprehension",
    cst.GeneratorExp: "_comprehension",
    cst.Lambda: "_lambda",
    cst.Assign: "_assign",
    cst.AnnAssign: "_annotated",
    cst.AugAssign: "_augmented",
    cst.Import: "_import",
    cst.ImportFrom: "_import_from",
    cst.LazyImport: "_import",
    cst.LazyImportFrom: "_import_from",
    cst.Global: "_global",
    cst.Nonlocal: "_global",
    cst.SimpleStatementLine: "_suite",
    cst.SimpleStatementSuite: "_suite",
    cst.IndentedBlock: "_suite",
    cst.Expr: "_expression",
    cst.Finally: "_finally",
    cst.Del: "_del",
    cst.If: "_if",
    cst.For: "_for",
    cst.With: "_with",
    cst.ExceptHandler: "_handler",
    cst.ExceptStarHandler: "_handler",
    cst.FunctionDef: "_def",
    cst.ClassDef: "_class",
    cst.TypeAlias: "_type_alias",
    cst.Match: "_match",
    cst.MatchList: "_sequence",
    cst.MatchTuple: "_sequence",
    cst.MatchOr: "_alternatives",
    cst.MatchAs: "_match_as",
    cst.MatchStar: "_match_star",
    cst.MatchMapping: "_match_mapping",
    cst.MatchClass: "_match_class",
}
