"""What is kept between runs, and what it is the answer to: the code, packs and options."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

import auditor
from auditor.audit.options import Options
from auditor.spec import data
from auditor.store import Store

_NO_PACK = b""


@contextmanager
def kept_store(folder: Path | None, remark: Callable[[str], None]) -> Iterator[Store]:
    """Open what is kept in a cache folder; without one nothing is found and nothing kept."""
    store = Store(folder / "facts.sqlite3" if folder is not None else None)
    try:
        yield store
    finally:
        store.close()
        if store.trouble:
            remark(store.trouble)


def asked(options: Options) -> bytes:
    """A digest of everything but the tree that decides what an audit says."""
    digest = blake2b(code_digest(""), digest_size=32)
    built_in = sorted(
        (file for file in data("rules").iterdir() if file.name.endswith(".toml")), key=lambda one: one.name
    )
    named = [Path(options.engine)] if options.engine and options.engine.endswith(".toml") else []
    packs = [file.read_bytes() for file in built_in] + [_content(file) for file in (*options.rules, *named)]
    switches = (str(options.assumptions), str(options.verify), *options.assume, "")
    words = [options.engine or "", *switches, *(file.as_posix() for file in options.rules)]
    for part in (*packs, *(word.encode("utf-8", "surrogateescape") for word in words)):
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.digest()


def _content(file: Path) -> bytes:
    """A pack that cannot be read is a fault that the audit tells: it has no answer that could be kept."""
    try:
        return file.read_bytes()
    except OSError:
        return _NO_PACK


@functools.cache
def code_digest(*rooms: str) -> bytes:
    """A digest of our code in some rooms ("" is all of it), the parser and the language."""
    digest = blake2b(f"{sys.version_info[:3]} {_parser()}".encode(), digest_size=32)
    home = Path(auditor.__file__).parent
    for file in sorted({path for room in rooms for path in (home / room).rglob("*.py")}):
        content = file.read_bytes()
        digest.update(f"{file.relative_to(home)} {len(content)} ".encode() + content)
    return digest.digest()


def _parser() -> str:
    """The version of LibCST, told without importing it."""
    installed = (found.name for folder in sys.path for found in Path(folder).glob("libcst-*.dist-info"))
    if first := next(installed, ""):
        return first
    from importlib.metadata import version  # slow to import; an installation without such a folder is rare

    return version("libcst")
