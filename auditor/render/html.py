"""HTML: one file that needs no network and no script, for people who want to see the whole of an audit.

The templates lie in ``reports/html``. Every text that they show passes through ``escape`` (Jinja's ``finalize``); what
is markup already was made in this room. A content security policy names the style sheets and the one script by their
digests, so that nothing else could run even if an escape were missing.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING

from auditor.render import words
from auditor.render.escape import escape, prose
from auditor.render.footer import coverage, sentence
from auditor.render.missing import beside, missing_edge
from auditor.render.page import Page
from auditor.render.plain import count, place, short
from auditor.spec import data
from auditor.triage import VERDICTS, Report

if TYPE_CHECKING:
    import jinja2

_BREAK = re.compile(r"[/._](?=\w)")
"""Where a long path or name may go on in the next line."""
OPEN = 10
"""Findings that are open at first: those that count, worst first."""
FOLDED = 10
"""Rows of a table before the rest is folded."""


def render(report: Report, page: Page) -> str:
    """Write the page."""
    from auditor.render.probed import STYLE
    from auditor.render.view import view  # slow to import, as Jinja is

    shown = view(report, page)
    template = _environment().get_template("report.html.j2")
    return template.render(
        view=shown,
        report=report,
        sentence=sentence(report, page.min_confidence),
        coverage=coverage(report),
        explained={check for check, _ in shown.checks},
        arguments=page.arguments,
        verdicts=VERDICTS,
        opened=OPEN,
        folded=FOLDED,
        timelines=STYLE if page.evidence else "",
    )


def _environment() -> jinja2.Environment:
    import jinja2
    from markupsafe import Markup

    folder = data("reports").joinpath("html")

    def read(name: str) -> str:
        return folder.joinpath(name).read_text(encoding="utf-8")

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(read),
        autoescape=True,
        finalize=lambda value: value if isinstance(value, Markup) else Markup(escape(str(value))),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    filters: Mapping[str, object] = {
        "short": short,
        "place": lambda one: place(one.path, one.line),
        "count": count,
        "prose": lambda text: Markup(prose(text)),
        "breakable": lambda name: Markup(_BREAK.sub(r"\g<0><wbr>", escape(name))),
        "drawn": Markup,
        "lines": lambda text: Markup("\n".join(map(escape, text.split("\n")))),
        "missing": lambda group: missing_edge(*(one.finding for one in group)),
        "beside": beside,
        "execution": words.execution,
        "exempt": words.exempt,
        "unknown": words.unknown,
        "asset": lambda name: Markup(read(name)),
        "digest": lambda name: Markup(_digest(read(name))),
        "style": Markup,
        "style_digest": lambda text: Markup(_digest(text)),
    }
    environment.filters.update(filters)
    return environment


def _digest(text: str) -> str:
    """A source of the policy; the text between the tags is hashed as it stands."""
    return "'sha256-" + base64.b64encode(sha256(text.encode()).digest()).decode() + "'"
