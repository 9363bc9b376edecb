"""Report to text: pure functions, one format a file. No input, no output, no clock.

A *page* is what the text is written on: its width, whether it has colours, and where source lines come from. Everything
that came from audited code passes through ``plain.clean``: no control character, escape sequence or bidi mark of an
audited file ever reaches a terminal; and through ``escape`` on its way into HTML and Markdown, where it is shown and
never obeyed. A renderer never decides: verdicts, messages and their order come from triage.

Adding a format: one file with a ``render(report, page) -> str``, one line in ``FORMATS``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from auditor.render import github, gitlab, graph, html, json_v1, junit, markdown, rdjson, sarif, text
from auditor.render.difference import DIFFERENCE_FORMATS
from auditor.render.documentation import documented, explain_check, read_documentation
from auditor.render.escape import escape, prose
from auditor.render.footer import sentence
from auditor.render.github import workflow_command
from auditor.render.graph import callers_of
from auditor.render.history import HISTORY_FORMATS
from auditor.render.likewise import together
from auditor.render.page import Page
from auditor.render.plain import clean, count, short
from auditor.render.text import explain_finding
from auditor.render.why import explain_sites
from auditor.triage import Report

Renderer = Callable[[Report, Page], str]

FORMATS: Mapping[str, Renderer] = {
    "text": text.render,
    "json": json_v1.render,
    "sarif": sarif.render,
    "html": html.render,
    "markdown": markdown.render,
    "github": github.render,
    "gitlab": gitlab.render,
    "junit": junit.render,
    "rdjson": rdjson.render,
}
"""The formats of ``check``, in the order in which they are offered."""

GraphRenderer = Callable[[Mapping[str, tuple[str, ...]]], str]

GRAPH_FORMATS: Mapping[str, GraphRenderer] = {
    "json": graph.to_json,
    "dot": graph.to_dot,
    "graphml": graph.to_graphml,
}
"""The formats of ``graph``."""

__all__ = [
    "DIFFERENCE_FORMATS",
    "FORMATS",
    "GRAPH_FORMATS",
    "HISTORY_FORMATS",
    "Page",
    "Renderer",
    "callers_of",
    "clean",
    "count",
    "documented",
    "escape",
    "explain_check",
    "explain_finding",
    "explain_sites",
    "prose",
    "read_documentation",
    "sentence",
    "short",
    "together",
    "workflow_command",
]
