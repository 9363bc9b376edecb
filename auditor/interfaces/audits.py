"""An audit as a verb asks for it: the spine, and what the configuration adds to its report."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from auditor.interfaces.options import Request
    from auditor.interfaces.progress import Progress
    from auditor.source import SourceTree
    from auditor.triage import Report


def audited(request: Request, tree: SourceTree, progress: Progress, *, timing: bool = True) -> Report:
    """Audit a tree as the request says."""
    from auditor.audit import audit

    report = audit(tree, request.options(progress, timing=timing))
    file = request.configuration.file
    return report if file is None else replace(report, configuration=os.path.relpath(file, tree.root))
