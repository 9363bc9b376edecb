"""Comes first on PYTHONPATH of a watched command: hooks in, then hands on to the ``sitecustomize`` that would have
been found."""

import os
import runpy
import sys
from pathlib import Path

try:
    _root = os.environ["CUDA_PROBE_ROOT"]
    sys.path.insert(0, _root)  # for this import only: what else is there is none of the server's business
    try:
        from cuda_probe.watch import install
    finally:
        sys.path.remove(_root)
    install()
except Exception as error:  # noqa: BLE001 -- the server starts whatever is wrong with the watch
    sys.stderr.write(f"cuda_probe: not watching: {type(error).__name__}: {error}\n")

_here = Path(__file__).resolve().parent
for _folder in sys.path:
    _next = Path(_folder or os.curdir) / "sitecustomize.py"
    if _folder and _next.parent.resolve() != _here and _next.is_file():
        runpy.run_path(str(_next))
        break
