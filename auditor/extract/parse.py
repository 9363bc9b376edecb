"""Read one file: decode, scan, parse, survey, lower. Whatever goes wrong becomes a ``Problem``."""

from __future__ import annotations

import ast
import codecs
import io
import re
import sys
import tokenize
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import libcst as cst

from auditor.collector import no_collector
from auditor.extract import lower_comprehensions, lower_definitions, lower_patterns, lower_protected, lower_statements
from auditor.extract.context import File
from auditor.extract.survey import Drift, PlacedSurvey, Survey
from auditor.extract.tokens import MAX_BYTES, Lines, Refused, Words, scan
from auditor.facts import ModuleFacts, Problem

_RECURSION = 200_000
_ERROR_AT = re.compile(r"error at (\d+):\d+")
_LOADED = (lower_comprehensions, lower_patterns, lower_protected, lower_statements)


def extract(path: str, module: str, is_package: bool, content: bytes) -> ModuleFacts:
    """Read one file into facts; a file that cannot be read gives no functions and one problem that says why."""
    try:
        with _deep(), no_collector():
            return _extract(path, module, is_package, content)
    except Refused as refused:
        problem = Problem(max(refused.line, 1), refused.what)
    except (RecursionError, MemoryError):
        problem = Problem(1, "too deeply nested to be read (limit); simplify the file or leave it out")
    return ModuleFacts(path, module, is_package, (), (), (problem,))


def _extract(path: str, module: str, is_package: bool, content: bytes) -> ModuleFacts:
    text = _decode(content)
    lines = Lines(text)
    lines.refuse_long()
    words = scan(text, lines)
    tree = _parse(text)
    survey = _survey(tree, words, lines)
    file = File(module, is_package, survey, lines)
    lower_definitions.module(file, tree)
    functions = tuple([file.functions[order] for order in sorted(file.functions)])
    classes = tuple([file.classes[order] for order in sorted(file.classes)])
    problems = tuple(sorted(set(file.problems)))
    return ModuleFacts(path, module, is_package, functions, classes, problems)


def _decode(content: bytes) -> str:
    if len(content) > MAX_BYTES:
        raise Refused(1, f"file larger than {MAX_BYTES} bytes (limit); split it or leave it out")
    if b"\0" in content:
        line = content[: content.index(b"\0")].count(b"\n") + 1
        raise Refused(line, "null byte: not a text file; leave it out")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise Refused(line, f"not {error.encoding}: declare the encoding of the file or save it as UTF-8") from None
    except (SyntaxError, LookupError, ValueError) as error:
        raise Refused(1, f"{error}: declare the right encoding or save the file as UTF-8") from None
    return text.removeprefix(codecs.BOM_UTF8.decode())


def _parse(text: str) -> cst.Module:
    try:
        with _trusted():
            return cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        reason = "" if _ERROR_AT.search(error.message) else f" ({error.message.removeprefix('tokenizer error: ')})"
        what = f"syntax error{reason}: not Python 3, or incomplete; mend it or leave the file out"
        raise Refused(_line_of_error(text, error), what) from None


def _line_of_error(text: str, error: cst.ParserSyntaxError) -> int:
    """Give the line of a syntax error; where LibCST's tokenizer does not tell it, ask the standard library's parser."""
    found = _ERROR_AT.search(error.message)
    if found:
        return int(found[1])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as failure:
        return failure.lineno or error.raw_line
    except (ValueError, RecursionError, MemoryError):
        pass
    return error.raw_line


def _survey(tree: cst.Module, words: Words, lines: Lines) -> Survey:
    try:
        survey = Survey(words)
        survey.run(tree)
    except Drift:
        survey = PlacedSurvey(tree, lines)
        survey.run(tree)
    return survey


@contextmanager
def _trusted() -> Iterator[None]:
    """Make nodes without validating each: that is for trees made by hand (see the remark in ``CSTNode.__post_init__``),
    and takes much of the time of parsing."""
    validating = cst.CSTNode.__post_init__
    setattr(cst.CSTNode, "__post_init__", lambda node: None)  # noqa: B010 - mypy knows no assignment to a method
    try:
        yield
    finally:
        setattr(cst.CSTNode, "__post_init__", validating)  # noqa: B010


@contextmanager
def _deep() -> Iterator[None]:
    """Allow deep recursion: calls from Python to Python take no native stack."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
