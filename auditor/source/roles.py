"""Roles of files, told by their paths.

A pattern ending in ``/`` names a folder (``tests/``), any other one a file (``test_*.py``) or, with ``**``, a subtree
(``sglang/test/**``). ``*`` stays within one part; patterns match anywhere below the root. First match wins.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

ROLES = ("product", "test", "benchmark", "example", "vendored")

DEFAULT_ROLES: Mapping[str, tuple[str, ...]] = {
    "vendored": (
        "third_party/",
        "thirdparty/",
        "3rdparty/",
        "vendor/",
        "vendored/",
        "_vendor/",
        "_vendored/",
        "extern/",
    ),
    "test": ("tests/", "test/", "testing/", "unittest/", "conftest.py", "test_*.py", "*_test.py"),
    "benchmark": ("benchmark/", "benchmarks/", "bench/", "bench_*.py", "benchmark_*.py", "*_benchmark.py"),
    "example": ("examples/", "example/", "docs/", "doc/", "playground/", "tutorials/", "demo/", "demos/"),
}


def role_teller(configured: Mapping[str, tuple[str, ...]]) -> Callable[[str], str]:
    """Return the function from path to role; configured patterns go before the built-in ones (``product`` reclaims)."""
    rules = [
        (role, _compiled(patterns)) for role, patterns in (*configured.items(), *DEFAULT_ROLES.items()) if patterns
    ]

    def role(path: str) -> str:
        return next((name for name, pattern in rules if pattern.fullmatch(path)), "product")

    return role


def _compiled(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("(?:.*/)?(?:" + "|".join(map(_translated, patterns)) + ")", re.DOTALL)


def _translated(pattern: str) -> str:
    pieces = re.split(r"(\*\*/?|\*|\?)", pattern.lstrip("/"))
    body = "".join(_WILD.get(piece, re.escape(piece)) for piece in pieces)
    return body + ".*" if pattern.endswith("/") else body


_WILD = {"**": ".*", "**/": "(?:.*/)?", "*": "[^/]*", "?": "[^/]"}
