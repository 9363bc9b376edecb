"""Where the data folders are: in the wheel, or beside the package in a checkout."""

from __future__ import annotations

import importlib.resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal

from auditor.errors import AuditError


class MissingData(AuditError):
    """Indicates that the installation lacks its rule packs or templates; installing it again mends that."""


def data(kind: Literal["rules", "reports"]) -> Traversable:
    """Find the folder of rule packs or of report templates."""
    packaged = importlib.resources.files("auditor").joinpath("_data", kind)
    if packaged.is_dir():
        return packaged
    # An editable install has no _data: the folders stand beside the package.
    checkout = Path(__file__).resolve().parent.parent.parent / kind
    if checkout.is_dir() and (checkout.parent / "pyproject.toml").is_file():
        return checkout
    raise MissingData(f"the folder {kind!r} is neither in the installed package nor in a checkout around it")
