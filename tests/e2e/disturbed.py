"""Run the command while the file system misbehaves: ``python -m tests.e2e.disturbed HOW:NAME ARGUMENTS``.

changing  the file NAME gets another time of change at each read
denied    the file NAME may not be opened
slow      every read takes a while, and says so once on stderr
"""

from __future__ import annotations

import itertools
import os
import sys
import time

from auditor.interfaces.cli import main


def disturb(how: str, name: str) -> None:
    """Put a wrapper around the system calls of this process."""
    really_open, really_read, ticks = os.open, os.read, itertools.count(1)

    def is_meant(descriptor: int) -> bool:
        return os.path.basename(os.readlink(f"/proc/self/fd/{descriptor}")) == name

    def read(descriptor: int, count: int) -> bytes:
        data = really_read(descriptor, count)
        if how == "changing" and is_meant(descriptor):
            os.utime(f"/proc/self/fd/{descriptor}", (1e9, 1e9 + next(ticks)))
        if how == "slow":
            if next(ticks) == 1:
                print("reading", file=sys.stderr, flush=True)
            time.sleep(0.5)
        return data

    def open_(path, *arguments, **options):
        if how == "denied" and os.path.basename(os.fsdecode(path)) == name:
            raise PermissionError(13, "Permission denied", path)
        return really_open(path, *arguments, **options)

    os.open, os.read = open_, read


if __name__ == "__main__":
    disturb(*sys.argv.pop(1).split(":"))
    main(prog_name="bufgate")
