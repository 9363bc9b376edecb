# ruff: noqa: E501  # a program a line reads better than a program torn apart
"""Every way in which Python hands an object on: what reaches the call of ``probe``."""

from __future__ import annotations

import pytest

from tests.unit.link.programs import link, probe

CLASSES = """
class APool:
    def get_k(self): return 1
class BPool:
    def get_k(self): return 2
    def get_b(self): return 3
class CPool(APool):
    pass
"""

FEATURES = {
    "variable": ("x = APool()\nprobe(x)", {"APool"}),
    "class in a variable": ("c = APool\nprobe(c())", {"APool"}),
    "conditional chain": ("c = APool\nif cond:\n    c = BPool\nprobe(c())", {"APool", "BPool"}),
    "conditional expression": ("probe((APool if cond else BPool)())", {"APool", "BPool"}),
    "or": ("probe(None or APool())", {"APool"}),
    "rebound": ("def f():\n    x = APool()\n    x = BPool()\n    probe(x)\nf()", {"BPool"}),
    "argument": ("def f(p):\n    probe(p)\nf(APool())", {"APool"}),
    "keyword argument": ("def f(*, p=None):\n    probe(p)\nf(p=APool())", {"APool"}),
    "default": ("def f(p=APool()):\n    probe(p)\nf()", {"APool"}),
    "class as default": ("def f(c=BPool):\n    probe(c())\nf()", {"BPool"}),
    "return": ("def f():\n    return APool()\nprobe(f())", {"APool"}),
    "returned class": ("def f():\n    return APool if cond else BPool\nprobe(f()())", {"APool", "BPool"}),
    "returned tuple": ("def f():\n    return APool(), BPool()\nx, y = f()\nprobe(y)", {"BPool"}),
    "nested tuple": ("(x, (y, z)) = (1, (APool(), BPool()))\nprobe(z)", {"BPool"}),
    "starred": ("x, *y = (APool(), BPool())\nprobe(x)", {"APool"}),
    "dict registry": ("r = {'a': APool, 'b': BPool}\nprobe(r['a']())", {"APool"}),
    "dict registry by any key": ("r = {'a': APool, 'b': BPool}\nprobe(r[key]())", {"APool", "BPool"}),
    "dict overwritten": ("r = {'a': APool}\nr['a'] = BPool\nprobe(r['a']())", {"BPool"}),
    "inner dict overwritten": ("r = {'a': {'b': APool}}\nr['a']['b'] = BPool\nprobe(r['a']['b']())", {"BPool"}),
    "dict overwritten by another name": ("r = {'a': APool}\ns = r\ns['a'] = BPool\nprobe(r['a']())", {"BPool"}),
    "dict overwritten by a call": ("r = {'a': APool}\ndef f():\n    r['a'] = BPool\nf()\nprobe(r['a']())", {"APool", "BPool"}),
    "dict overwritten by any key": ("r = {'a': APool}\nr[key] = BPool\nprobe(r['a']())", {"APool", "BPool"}),
    "dict overwritten in a branch": ("r = {'a': APool}\nif cond:\n    r['a'] = BPool\nprobe(r['a']())", {"APool", "BPool"}),
    "object that keeps nothing": (
        "class H:\n    def __getitem__(self, k):\n        return APool\n    def __setitem__(self, k, v): pass\nr = H()\nr['a'] = BPool\nprobe(r['a']())",
        {"APool"},
    ),
    "dict get": ("r = {'a': APool, 'b': BPool}\nprobe(r.get('b')())", {"BPool"}),
    "dict get default": ("r = {}\nprobe(r.get('b', APool)())", {"APool"}),
    "dict set item": ("r = {}\nr['a'] = APool\nprobe(r['a']())", {"APool"}),
    "dict values": ("r = {'a': APool()}\nfor x in r.values():\n    probe(x)", {"APool"}),
    "dict items": ("r = {'a': APool()}\nfor k, x in r.items():\n    probe(x)", {"APool"}),
    "dict call": ("r = dict(a=APool())\nprobe(r['a'])", {"APool"}),
    "dict setdefault": ("r = {}\nprobe(r.setdefault('a', APool()))", {"APool"}),
    "registry decorator": (
        "R = {}\ndef register(n):\n    def deco(c):\n        R[n] = c\n        return c\n    return deco\n"
        "@register('d')\nclass DPool: pass\nprobe(R['d']())",
        {"DPool"},
    ),
    "list": ("xs = [APool()]\nprobe(xs[0])", {"APool"}),
    "list by place": ("xs = [APool(), BPool()]\nprobe(xs[1])", {"BPool"}),
    "list from the end": ("xs = [APool(), BPool()]\nprobe(xs[-1])", {"APool", "BPool"}),
    "nested list": ("xs = [[APool()], BPool()]\nprobe(xs[0][0])", {"APool"}),
    "list unpacked": ("x, y = [APool(), BPool()]\nprobe(y)", {"BPool"}),
    "list after insert": ("xs = [APool(), BPool()]\nxs.insert(0, None)\nprobe(xs[1])", {"APool", "BPool"}),
    "list after sort": ("xs = [APool(), BPool()]\nxs.sort(key=len)\nprobe(xs[1])", {"APool", "BPool"}),
    "list after shuffle": ("import random\nxs = [APool(), BPool()]\nrandom.shuffle(xs)\nprobe(xs[1])", {"APool", "BPool"}),
    "list after del": ("xs = [APool(), BPool()]\ndel xs[0]\nprobe(xs[0])", {"APool", "BPool"}),
    "list reversed": ("xs = [APool(), BPool()]\nprobe(list(reversed(xs))[0])", {"APool", "BPool"}),
    "list behind a list": ("xs = [APool()] + [BPool()]\nprobe(xs[1])", {"BPool"}),
    "list repeated": ("xs = [APool(), BPool()] * 2\nprobe(xs[3])", {"APool", "BPool"}),
    "list behind a star": ("xs = [APool()]\nys = [*xs, BPool()]\nprobe(ys[1])", {"APool", "BPool"}),
    "dict behind stars": ("r = {'a': APool()}\ns = {**r, 'b': BPool()}\nprobe(s['a'])", {"APool"}),
    "slice": ("xs = [APool(), BPool(), CPool()]\nprobe(xs[1:3][0])", {"BPool"}),
    "slice from the start": ("xs = [APool(), BPool(), CPool()]\nprobe(xs[:2][1])", {"BPool"}),
    "slice to the end": ("xs = [APool(), BPool()]\nprobe(xs[1:][0])", {"APool", "BPool"}),
    "slice before the start": ("xs = [APool(), BPool()]\nprobe(xs[-2:1][0])", {"APool", "BPool"}),
    "slice with a step": ("xs = [APool(), BPool()]\nprobe(xs[0:2:2][0])", {"APool", "BPool"}),
    "slice replaced": ("xs = [APool(), APool()]\nxs[0:1] = [BPool()]\nprobe(xs[0])", {"APool", "BPool"}),
    "generator as a list": ("def f():\n    yield APool()\nprobe(list(f())[0])", {"APool"}),
    "list of pairs": ("xs = list(zip([APool()], [BPool()]))\nprobe(xs[0][1])", {"BPool"}),
    "list append": ("xs = []\nxs.append(APool())\nfor x in xs:\n    probe(x)", {"APool"}),
    "append as a value": ("xs = []\nadd = xs.append\nadd(APool())\nprobe(xs[0])", {"APool"}),
    "list extend": ("xs = []\nxs.extend([APool()])\nprobe(xs.pop())", {"APool"}),
    "list sum": ("xs = [APool()] + [BPool()]\nprobe(xs[i])", {"APool", "BPool"}),
    "list call": ("xs = list((APool(),))\nprobe(xs[0])", {"APool"}),
    "enumerate": ("for i, x in enumerate([APool()]):\n    probe(x)", {"APool"}),
    "zip": ("for x, y in zip([APool()], [BPool()]):\n    probe(y)", {"BPool"}),
    "map": ("for x in map(lambda c: c(), [APool]):\n    probe(x)", {"APool"}),
    "next iter": ("probe(next(iter([APool()])))", {"APool"}),
    "list comprehension": ("probe([c() for c in (APool, BPool)][0])", {"APool", "BPool"}),
    "dict comprehension": ("probe({n: APool() for n in names}['a'])", {"APool"}),
    "generator expression": ("for x in (c() for c in [APool]):\n    probe(x)", {"APool"}),
    "deque": ("import collections\nq = collections.deque()\nq.append(APool())\nprobe(q.popleft())", {"APool"}),
    "generator": ("def f():\n    yield APool()\nfor x in f():\n    probe(x)", {"APool"}),
    "yield from": ("def g():\n    yield APool()\ndef f():\n    yield from g()\nfor x in f():\n    probe(x)", {"APool"}),
    "await": ("async def f():\n    return APool()\nasync def g():\n    probe(await f())", {"APool"}),
    "walrus": ("if (x := APool()):\n    probe(x)", {"APool"}),
    "attribute": ("class H:\n    def __init__(self, p):\n        self.p = p\nprobe(H(APool()).p)", {"APool"}),
    "attribute chain": (
        "class H:\n    pass\nh = H()\nh.a = H()\nh.a.p = APool()\ndef f(x):\n    probe(x.a.p)\nf(h)",
        {"APool"},
    ),
    "class attribute": ("class H:\n    p = APool()\nprobe(H().p)", {"APool"}),
    "class attribute of the class": ("class H:\n    c = APool\nprobe(H.c())", {"APool"}),
    "class attribute overridden": (
        "class H:\n    c = APool\n    def make(self):\n        return self.c()\nclass J(H):\n    c = BPool\nprobe(J().make())",
        {"BPool"},
    ),
    "class attribute stored later": ("class H:\n    c = None\nH.c = APool\nprobe(H().c())", {"APool"}),
    "getattr": ("class H:\n    def __init__(self):\n        self.p = APool()\nprobe(getattr(H(), 'p'))", {"APool"}),
    "getattr default": ("class H: pass\nprobe(getattr(H(), 'p', APool()))", {"APool"}),
    "setattr": ("class H: pass\nh = H()\nsetattr(h, 'p', APool())\nprobe(h.p)", {"APool"}),
    "getattr method": ("class H:\n    def f(self):\n        return APool()\nprobe(getattr(H(), 'f')())", {"APool"}),
    "dataclass": ("from dataclasses import dataclass\n@dataclass\nclass H:\n    p: object\nprobe(H(APool()).p)", {"APool"}),
    "dataclass default": ("from dataclasses import dataclass\n@dataclass\nclass H:\n    c: object = APool\nprobe(H().c())", {"APool"}),
    "dataclass inherited": (
        "from dataclasses import dataclass\n@dataclass\nclass G:\n    a: int\n@dataclass\nclass H(G):\n    p: object\nprobe(H(1, APool()).p)",
        {"APool"},
    ),
    "default factory": (
        "from dataclasses import dataclass, field\n@dataclass\nclass H:\n    p: object = field(default_factory=APool)\nprobe(H().p)",
        {"APool"},
    ),
    "named tuple": ("from typing import NamedTuple\nclass H(NamedTuple):\n    p: object\nprobe(H(p=APool()).p)", {"APool"}),
    "replace": (
        "from dataclasses import dataclass, replace\n@dataclass\nclass H:\n    p: object\nprobe(replace(H(None), p=APool()).p)",
        {"APool"},
    ),
    "copy": ("import copy\nprobe(copy.copy(APool()))", {"APool"}),
    "property": ("class H:\n    @property\n    def p(self):\n        return APool()\nprobe(H().p)", {"APool"}),
    "property call": ("class H:\n    def get(self):\n        return APool()\n    p = property(get)\nprobe(H().p)", {"APool"}),
    "cached property": (
        "from functools import cached_property\nclass H:\n    @cached_property\n    def p(self):\n        return APool()\nprobe(H().p)",
        {"APool"},
    ),
    "descriptor": (
        "class D:\n    def __get__(self, one, cls):\n        return APool()\nclass H:\n    p = D()\ndef f(h):\n    probe(h.p)\nf(H())",
        {"APool"},
    ),
    "forwarding getattr": (
        "class V:\n    def __init__(self, p):\n        self.p = p\n    def __getattr__(self, n):\n        return getattr(self.p, n)\n"
        "class H:\n    def __init__(self):\n        self.q = APool()\nprobe(V(H()).q)",
        {"APool"},
    ),
    "partial": ("from functools import partial\ndef f(c, n):\n    return c()\nprobe(partial(f, APool)(1))", {"APool"}),
    "partial of a class": ("from functools import partial\nprobe(partial(APool)())", {"APool"}),
    "partial of a method": (
        "from functools import partial\nclass H:\n    def f(self, c):\n        return c()\nprobe(partial(H().f, APool)())",
        {"APool"},
    ),
    "lambda": ("f = lambda: APool()\nprobe(f())", {"APool"}),
    "lambda argument": ("def call(f):\n    return f()\nprobe(call(lambda: APool()))", {"APool"}),
    "closure": ("def outer(p):\n    def inner():\n        probe(p)\n    return inner\nouter(APool())()", {"APool"}),
    "nonlocal": ("def outer():\n    p = None\n    def set():\n        nonlocal p\n        p = APool()\n    set()\n    probe(p)\nouter()", {"APool"}),
    "decorator": (
        "from functools import wraps\ndef deco(f):\n    @wraps(f)\n    def inner(*a, **k):\n        return f(*a, **k)\n    return inner\n"
        "@deco\ndef make(c):\n    return c()\nprobe(make(APool))",
        {"APool"},
    ),
    "outside decorator": ("import torch\n@torch.no_grad()\ndef make():\n    return APool()\nprobe(make())", {"APool"}),
    "lru_cache": ("from functools import lru_cache\n@lru_cache(maxsize=None)\ndef make():\n    return APool()\nprobe(make())", {"APool"}),
    "context manager": (
        "class M:\n    def __enter__(self):\n        return APool()\n    def __exit__(self, *a): pass\nwith M() as p:\n    probe(p)",
        {"APool"},
    ),
    "contextmanager": (
        "from contextlib import contextmanager\n@contextmanager\ndef m():\n    yield APool()\nwith m() as p:\n    probe(p)",
        {"APool"},
    ),
    "star arguments": ("def f(*a):\n    probe(a[0])\nf(APool(), BPool())", {"APool"}),
    "forwarded stars": ("def g(p, q):\n    probe(q)\ndef f(*a, **k):\n    g(*a, **k)\nf(APool(), q=BPool())", {"BPool"}),
    "star kwargs": ("def f(**k):\n    probe(k['p'])\nf(p=APool())", {"APool"}),
    "spread list": ("def f(p):\n    probe(p)\nf(*[APool()])", {"APool"}),
    "spread dict": ("def f(p):\n    probe(p)\nf(**{'p': APool()})", {"APool"}),
    "module global": ("p = None\ndef set():\n    global p\n    p = APool()\ndef f():\n    probe(p)\nset()\nf()", {"APool"}),
    "singleton": ("_p = None\ndef get_p():\n    global _p\n    if _p is None:\n        _p = APool()\n    return _p\nprobe(get_p())", {"APool"}),
    "contextvar": ("from contextvars import ContextVar\nv = ContextVar('v')\nv.set(APool())\nprobe(v.get())", {"APool"}),
    "method": ("class H:\n    def f(self, c):\n        return c()\nprobe(H().f(APool))", {"APool"}),
    "bound method": ("class H:\n    def f(self):\n        return APool()\ng = H().f\nprobe(g())", {"APool"}),
    "static method": ("class H:\n    @staticmethod\n    def f():\n        return APool()\nprobe(H.f())\nprobe(H().f())", {"APool"}),
    "class method": ("class H:\n    @classmethod\n    def f(cls):\n        return cls()\nclass J(H): pass\nprobe(J.f())", {"J"}),
    "call": ("class H:\n    def __call__(self):\n        return APool()\nprobe(H()())", {"APool"}),
    "getitem": ("class H:\n    def __getitem__(self, i):\n        return APool()\nprobe(H()[0])", {"APool"}),
    "iter": ("class H:\n    def __iter__(self):\n        yield APool()\nfor x in H():\n    probe(x)", {"APool"}),
    "iterator": (
        "class H:\n    def __iter__(self):\n        return self\n    def __next__(self):\n        return APool()\nfor x in H():\n    probe(x)\nprobe(next(H()))",
        {"APool"},
    ),
    "iterated by getitem": ("class H:\n    def __getitem__(self, i):\n        return APool()\nfor x in H():\n    probe(x)", {"APool"}),
    "decorators in a row": (
        "def a(f):\n    def inner():\n        return f()\n    return inner\n@a\n@a\ndef make():\n    return APool()\nprobe(make())",
        {"APool"},
    ),
    "decorator that replaces": ("def deco(f):\n    return BPool\n@deco\ndef make():\n    return APool()\nprobe(make())", {"BPool"}),
    "unbound method": ("class H:\n    def f(self):\n        probe(self)\nH.f(APool())", {"APool"}),
    "type of": ("def f(p):\n    probe(type(p)())\nf(APool())", {"APool"}),
    "class of": ("def f(p):\n    probe(p.__class__())\nf(APool())", {"APool"}),
    "super": (
        "class H:\n    def f(self):\n        return APool()\nclass J(H):\n    def f(self):\n        return super().f()\nprobe(J().f())",
        {"APool"},
    ),
    "super with arguments": (
        "class H:\n    def f(self):\n        return APool()\nclass J(H):\n    def f(self):\n        return super(J, self).f()\nprobe(J().f())",
        {"APool"},
    ),
    "super init": (
        "class H:\n    def __init__(self, c):\n        self.p = c()\nclass J(H):\n    def __init__(self):\n        super().__init__(c=APool)\nprobe(J().p)",
        {"APool"},
    ),
    "mixin order": (
        "class M:\n    def f(self):\n        return APool()\nclass N:\n    def f(self):\n        return BPool()\nclass H(M, N): pass\nprobe(H().f())",
        {"APool"},
    ),
    "cooperative super": (
        "class T:\n    def f(self): return None\nclass M(T):\n    def f(self):\n        return super().f()\nclass N(T):\n    def f(self):\n        return BPool()\n"
        "class H(M, N): pass\nprobe(H().f())",
        {"BPool"},
    ),
    "template method": (
        "class H:\n    def run(self):\n        return self.make()\n    def make(self):\n        raise NotImplementedError\n"
        "class J(H):\n    def make(self):\n        return APool()\nprobe(J().run())",
        {"APool"},
    ),
    "nested class": ("class H:\n    class IPool: pass\nprobe(H.IPool())", {"IPool"}),
    "local class": ("def f():\n    class LPool: pass\n    return LPool()\nprobe(f())", {"LPool"}),
    "patched on the class": ("class H: pass\ndef f(self):\n    return APool()\nH.f = f\nprobe(H().f())", {"APool"}),
    "patched on the object": ("class H: pass\nh = H()\nh.f = lambda: APool()\nprobe(h.f())", {"APool"}),
    "cast": ("from typing import cast\ndef f(p):\n    probe(cast(APool, p))\nf(APool())\nf(BPool())", {"APool"}),
    "cast text": ("from typing import cast\ndef f(p):\n    probe(cast('APool', p))\nf(APool())\nf(BPool())", {"APool"}),
    "cast adds nothing": ("from typing import cast\ndef f(p):\n    probe(cast(BPool, p))\nf(None)", set()),
    "isinstance": ("def f(p):\n    if isinstance(p, APool):\n        probe(p)\nf(APool())\nf(BPool())\nf(CPool())", {"APool", "CPool"}),
    "not isinstance": ("def f(p):\n    if not isinstance(p, APool):\n        probe(p)\nf(APool())\nf(BPool())\nf(CPool())", {"BPool"}),
    "isinstance tuple": ("def f(p):\n    if isinstance(p, (BPool, CPool)):\n        probe(p)\nf(APool())\nf(BPool())\nf(CPool())", {"BPool", "CPool"}),
    "isinstance union": ("def f(p):\n    if isinstance(p, BPool | CPool):\n        probe(p)\nf(APool())\nf(BPool())", {"BPool"}),
    "assert": ("def f(p):\n    assert isinstance(p, BPool)\n    probe(p)\nf(APool())\nf(BPool())", {"BPool"}),
    "early return": ("def f(p):\n    if isinstance(p, APool):\n        return\n    probe(p)\nf(APool())\nf(BPool())", {"BPool"}),
    "type is": ("def f(p):\n    if type(p) is APool:\n        probe(p)\nf(APool())\nf(CPool())", {"APool"}),
    "hasattr": ("def f(p):\n    if hasattr(p, 'get_b'):\n        probe(p)\nf(APool())\nf(BPool())", {"BPool"}),
    "match": ("def f(p):\n    match p:\n        case APool():\n            probe(p)\nf(APool())\nf(BPool())", {"APool"}),
    "isinstance of an attribute": (
        "class H:\n    def __init__(self, p):\n        self.p = p\n    def f(self):\n        if isinstance(self.p, APool):\n            probe(self.p)\n"
        "H(APool()).f()\nH(BPool()).f()",
        {"APool"},
    ),
    "narrowed argument": ("def g(p):\n    probe(p)\ndef f(p):\n    if isinstance(p, APool):\n        g(p)\nf(APool())\nf(BPool())", {"APool"}),
    "both conditions": ("def f(p):\n    if isinstance(p, APool) and not isinstance(p, CPool):\n        probe(p)\nf(APool())\nf(CPool())", {"APool"}),
    "annotated field": (
        "class H:\n    def __init__(self, p, q):\n        self.p: APool = p\n        self.p = q\nprobe(H(APool(), CPool()).p)",
        {"APool", "CPool"},
    ),
    "handed back": ("def f(p):\n    return p\nf(BPool())\nprobe(f(APool()))", {"APool"}),
    "handed back by name": ("def f(*, d):\n    return d\nf(d=BPool())\nprobe(f(d=APool()))", {"APool"}),
    "handed back class": ("def f(kind, default):\n    found = lookup(kind)\n    if found is None:\n        return default\n    return found\nf(1, BPool)\nprobe(f(2, APool)())", {"APool"}),
    "handed back where paths join": ("def f(p, q):\n    r = p\n    if q:\n        r = BPool()\n    return r\nf(CPool(), 1)\nprobe(f(APool(), 1))", {"APool", "BPool"}),
    "handed back if it fits": ("def f(p):\n    if isinstance(p, APool):\n        return p\n    return None\nf(CPool())\nprobe(f(APool()) or f(BPool()))", {"APool"}),
    "handed back by a method": ("class H:\n    def f(self, p):\n        return p\nH().f(BPool())\nprobe(H().f(APool()))", {"APool"}),
    "handed back what is not given": ("def f(p=APool()):\n    return p\nf(BPool())\nprobe(f())", {"APool", "BPool"}),
    "handed back from stars": ("def f(p):\n    return p\nf(BPool())\nprobe(f(*[APool()]))", {"APool", "BPool"}),
    "outside class": ("import vendor\nc = APool\nif cond:\n    c = vendor.Pool\nprobe(c())", {"APool", "outside vendor.Pool"}),
    "plugin hook": ("import vendor\nc = APool\nif cond:\n    c = vendor.pool_class()\nprobe(c())", {"APool", "outside vendor.pool_class()"}),
}  # fmt: skip


@pytest.mark.parametrize("feature", FEATURES)
def test_feature(feature: str) -> None:
    body, expected = FEATURES[feature]
    assert probe(link(CLASSES + body)) == expected


def test_a_decorator_that_is_imported_from_the_tree_gives_what_it_returns() -> None:
    wraps = "def wraps(f):\n    def wrapper():\n        return f()\n    return wrapper\n"
    use = (
        "from d import wraps\nimport vendor\n@wraps\ndef f(): pass\n@vendor.traced\ndef g(): pass\nprobe(f)\nprobe(g)\n"
    )
    assert probe(link({"d": wraps, "m": use})) == {"function wrapper", "function g"}
