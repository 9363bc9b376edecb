"""The answer of ``bufgate why``: everything known of the sites on one line, as the four questions of an engineer.

1 what does the call bind to · 2 is there a gate, and is it enough · 3 is the cause somewhere else · 4 is there another
way round the gate. The verdict comes first, in one sentence; the evidence follows, each step with its file and line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from auditor.render import words
from auditor.render.frame import caret_frame, step_text, tree
from auditor.render.missing import about_loader, missing_edge
from auditor.render.page import Page
from auditor.render.plain import clean, count, joined, short, wrapped
from auditor.triage import VERDICTS, Binding, Gate, Report, ReportedFinding, Site, Step

SHOWN_SITES = 5


def explain_sites(report: Report, sites: Sequence[Site], page: Page) -> str:
    """Tell everything that is known of some sites."""
    return "\n\n".join("\n".join(_story(report, site, page)) for site in sites) + "\n"


def _story(report: Report, site: Site, page: Page) -> list[str]:
    findings = [finding for finding in report.findings if site.id in finding.sites]
    bindings = sorted(site.bindings, key=lambda binding: VERDICTS.index(binding.verdict))
    return [
        *_site(site, page),
        "",
        *_verdict(site, bindings, findings, page),
        *_question(page, "1. What does it bind to?", _binds(report, site, bindings, page)),
        *_question(page, "2. Is there a gate, and is it enough?", _gates(bindings, findings, page)),
        *_question(page, "3. Is the cause somewhere else?", _loader(report, page)),
        *_question(page, "4. Is there another way round the gate?", _ways_round(report, site, page)),
        *_question(page, "What would change this answer?", _changes(site, bindings, findings, page)),
    ]


def _question(page: Page, text: str, answer: Iterable[str]) -> list[str]:
    return ["", page.strong(text), *answer]


def _site(site: Site, page: Page) -> list[str]:
    name = f"{clean(site.receiver)}.{clean(site.name)}" if site.receiver else clean(site.name)
    kind = "A call of" if site.kind == "call" else "A raw read of"
    role = "" if site.role == "product" else f", in {clean(site.role)} code"
    function = f" in `{short(site.function)}`" if site.function else " at the top of the module"
    source = page.source(site.path, site.line) or ""
    width = _width(source, site, name)
    end = (site.line, site.column + width)
    return [
        *wrapped(f"{kind} `{name}`{function}{role}", page.width),
        *caret_frame(page, site.path, (site.line, site.column), end, ""),
    ]


def _width(source: str, site: Site, name: str) -> int:
    """Return how much of the line is the site: up to the end of its name if that is found, else one character."""
    end = source.find(site.name, site.column - 1) if site.name else -1
    return end + len(site.name) - (site.column - 1) if end >= 0 else 1


# ---------------------------------------------------------------- the verdict in words


def _verdict(site: Site, bindings: Sequence[Binding], findings: Sequence[ReportedFinding], page: Page) -> list[str]:
    lines: list[str] = []
    for text in dict.fromkeys(_sentences(site, bindings, findings, page)):
        lines += wrapped(text, page.width)
    for text in _others(site, bindings):
        lines += wrapped(text, page.width)
    paint = {"ungated": page.error, "latent": page.warning, "unknown": page.warning}.get(site.verdict, page.good)
    return [paint(line) for line in lines]


def _sentences(
    site: Site, bindings: Sequence[Binding], findings: Sequence[ReportedFinding], page: Page
) -> Iterable[str]:
    if not bindings:
        yield _unknown_sentence("receiver-unresolved" if not site.open else site.open[0])
    for binding in bindings:
        if binding.verdict == site.verdict:
            yield _sentence(binding, findings, page)
    if site.verdict == "gated":
        yield _advice(site)


def _others(site: Site, bindings: Sequence[Binding]) -> Iterable[str]:
    """Which classes have another verdict than the site, which has the worst one."""
    classes: dict[str, list[str]] = {verdict: [] for verdict in VERDICTS}
    for binding in bindings:
        classes[binding.verdict] += [short(name) for name in binding.classes]
    for verdict, names in classes.items():
        if names and verdict != site.verdict:
            yield f"Where it is {joined(dict.fromkeys(names), 'or')}: {verdict}."


def _sentence(binding: Binding, findings: Sequence[ReportedFinding], page: Page) -> str:
    match binding.verdict:
        case "gated":
            return " ".join(_gated_sentence(binding, gate, page) for gate in binding.gates[:1]) or "Already gated."
        case "ungated":
            said = [f.message for f in findings if f.check == binding.check] or [f.message for f in findings]
            return "Not gated: " + (page.prose(said[0]) if said else f"a path reaches {_target(binding)} with no gate.")
        case "latent":
            why = page.prose(binding.reason) or "no scenario arms this object"
            return f"Latent: {_target(binding)} is read without a gate, but no load can reach it now: {why}."
        case "exempt":
            return f"No gate is needed: {clean(words.exempt(binding.reason))}."
        case _:
            return _unknown_sentence(binding.reason)


def _gated_sentence(binding: Binding, gate: Gate, page: Page) -> str:
    where = f"{page.place(gate.path, gate.line)} (`{clean(gate.expression)}`)"
    return f"Already gated: the wait at {where} comes before {_target(binding)} reads."


def _advice(site: Site) -> str:
    if site.open:
        known = len({name for binding in site.bindings for name in binding.classes})
        noun = "class" if known == 1 else "classes"
        return f"That holds for {known} known {noun}; open at {joined(map(clean, site.open))}."
    return "Do not add another gate."


def _unknown_sentence(reason: str) -> str:
    return f"Unknown ({clean(reason)}): {clean(words.unknown(reason)[0])}."


def _target(binding: Binding) -> str:
    return short(binding.method) if binding.method else joined((short(name) for name in binding.classes), "or")


# ---------------------------------------------------------------- the four questions


def _binds(report: Report, site: Site, bindings: Sequence[Binding], page: Page) -> Iterable[str]:
    if not bindings:
        yield from _paragraph(page, "To nothing that could be found.")
    told: set[tuple[Step, ...]] = set()
    for binding in bindings:
        named = short(binding.method) if binding.method else _kind(site, binding)
        yield from _paragraph(page, f"{named}: {binding.verdict}")
        yield from _fact(page, "method", clean(binding.method))
        yield from _fact(page, "class", joined(map(clean, binding.classes), "or"))
        yield from _fact(page, "made at", ", ".join(clean(page.near(made)) for made in binding.objects))
        yield from _fact(page, "runs", _runs(report, binding, page))
        yield from _fact(page, "when", joined(map(clean, binding.when)))
        yield from _fact(page, "because", *_steps(binding.derivation, told, page))
        yield from _fact(page, "assumes", ", ".join(map(clean, binding.assumptions)))
    for one in site.excluded:
        yield from _paragraph(
            page, f"Not {joined([short(name) for name in one.classes], 'or')}: {page.prose(one.why)}."
        )
        yield from _fact(page, "made at", ", ".join(clean(page.near(made)) for made in one.objects))
    if site.open:
        yield from _paragraph(page, f"Classes from outside the tree may come in: {joined(map(clean, site.open))}.")


def _kind(site: Site, binding: Binding) -> str:
    if not binding.classes:
        return "something whose class could not be found"
    return f"the attribute `{clean(site.name)}`" if site.kind == "attribute" else "a method that could not be found"


def _steps(steps: tuple[Step, ...], told: set[tuple[Step, ...]], page: Page) -> Iterable[str]:
    """The steps up to where they go on as those of a binding above; ``told`` are the ways on that stand there."""
    for number, step in enumerate(steps):
        if steps[number:] in told:
            yield "as above" if number == 0 else f"and on as above, from {page.place(step.path, step.line)}"
            break
        yield step_text(page, step)
    told.update(steps[number:] for number in range(len(steps)))


def _runs(report: Report, binding: Binding, page: Page) -> str:
    load = "a load possible" if binding.phase == "load-possible" else "no load possible"
    scenario = next((s for s in report.scenarios if s.id == binding.scenario), None)
    if scenario:
        armed = f", with {clean(scenario.what)} ({page.place(scenario.path, scenario.line)})"
    else:
        armed = f", scenario {clean(binding.scenario)}" if binding.scenario else ""
    sure = "" if binding.feasible == "proved" else "; not proved to happen (flow only)"
    return f"{clean(binding.mode)}, {load}{armed}{sure}"


def _gates(bindings: Sequence[Binding], findings: Sequence[ReportedFinding], page: Page) -> Iterable[str]:
    objects: dict[Gate, list[str]] = {}
    for gate in dict.fromkeys(gate for binding in bindings for gate in binding.gates):
        objects.setdefault(replace(gate, on="", asked=Step("", 0, "")), []).append(clean(gate.on))
    for gate, names in objects.items():
        yield from _certificate(gate, names, page)
    witnesses = dict.fromkeys((b.verdict, b.witness) for b in bindings if b.witness)
    for verdict, witness in witnesses:
        yield from _paragraph(page, f"{verdict.capitalize()}: this path reaches the read.")
        yield from tree(page, witness, "     ")
    for finding in findings:
        for edge in missing_edge(finding):
            yield from _paragraph(page, f"Missing: {edge} ({clean(finding.check)}).")
    ends = dict.fromkeys((b.reason, b.derivation[-1:]) for b in bindings if b.verdict == "unknown")
    for reason, end in ends:
        yield from _paragraph(page, _unknown_sentence(reason))
        yield from (line for step in end for line in _fact(page, "ended at", step_text(page, step)))
    for reason in dict.fromkeys(b.reason for b in bindings if b.verdict == "exempt"):
        yield from _paragraph(page, f"No gate is needed ({clean(reason)}): {clean(words.exempt(reason))}.")
    if not bindings:
        yield from _paragraph(page, "That cannot be told before it is known what it binds to.")


def _certificate(gate: Gate, objects: Iterable[str], page: Page) -> Iterable[str]:
    yield from _paragraph(page, f"{page.place(gate.path, gate.line)}  `{clean(gate.expression)}`")
    yield from _fact(page, "on", joined(dict.fromkeys(objects), "or"))
    yield from _fact(page, "layer", clean(gate.layer))
    yield from _fact(page, "covers", clean(gate.covers))
    yield from _fact(page, "armed", page.prose(gate.armed))


def _loader(report: Report, page: Page) -> Iterable[str]:
    found = [finding for finding in report.findings if about_loader(finding)]
    if not found:
        yield from _paragraph(page, "This report has no finding about the loader's side.")
    for finding in found:
        yield from _paragraph(
            page, f"{page.place(finding.path, finding.line)}  {clean(finding.check)}: {page.prose(finding.message)}"
        )


def _ways_round(report: Report, site: Site, page: Page) -> Iterable[str]:
    reached = _reached(site.bindings)
    same = [(other, worst) for other in report.sites if other.id != site.id and (worst := _worst(other, reached))]
    holes = sorted((one for one in same if one[1] in VERDICTS[:3]), key=lambda one: VERDICTS.index(one[1]))
    if not holes:
        text = f"{count(len(same), 'other site')} can reach the same objects; each is gated or exempt."
        yield from _paragraph(page, text if same else "No other site that can reach the same objects was found.")
        return
    numbers = {verdict: sum(worst == verdict for _, worst in holes) for verdict in VERDICTS[:3]}
    told = joined(f"{number} {verdict}" for verdict, number in numbers.items() if number)
    yield from _paragraph(page, f"{count(len(same), 'other site')} can reach the same objects: {told}.")
    for other, worst in holes[:SHOWN_SITES]:
        text = f"{page.place(other.path, other.line)}  `{clean(other.name)}` in {short(other.function)}: {worst}"
        yield from _paragraph(page, text, "     ")
    if len(holes) > SHOWN_SITES:
        yield f"     and {len(holes) - SHOWN_SITES:,} more"


def _worst(site: Site, reached: frozenset[str]) -> str | None:
    """The worst verdict that a site has for some objects; None if it does not reach them."""
    verdicts = [binding.verdict for binding in site.bindings if reached & _reached([binding])]
    return min(verdicts, key=VERDICTS.index, default=None)


def _reached(bindings: Iterable[Binding]) -> frozenset[str]:
    """Return the objects that may be reached; the classes where no object is known."""
    return frozenset(name for binding in bindings for name in binding.objects or binding.classes)


def _changes(site: Site, bindings: Sequence[Binding], findings: Sequence[ReportedFinding], page: Page) -> Iterable[str]:
    for text in dict.fromkeys(_change_texts(site, bindings, findings, page)):
        yield from _paragraph(page, text)


def _change_texts(
    site: Site, bindings: Sequence[Binding], findings: Sequence[ReportedFinding], page: Page
) -> Iterable[str]:
    if not bindings:
        yield f"To know more: {words.unknown('receiver-unresolved')[1]}."
    for binding in (one for one in bindings if one.verdict == site.verdict):
        match binding.verdict:
            case "gated":
                yield "Taking out that wait, or leaving the counter of that object unset, makes this site ungated."
            case "ungated" | "latent":
                yield f"A wait for the layer before the read, in `{short(binding.method or site.function)}`."
                yield from (page.prose(hint) for finding in findings for hint in finding.hints)
            case "exempt":
                yield "A read of its elements where a load can be in flight would need a gate."
            case _:
                yield f"To know more: {words.unknown(binding.reason)[1]}."
    for assumption in dict.fromkeys(name for binding in bindings for name in binding.assumptions):
        yield f"It stands on the assumption {clean(assumption)}: --no-assumptions asks again without it."


# ---------------------------------------------------------------- lines


def _paragraph(page: Page, text: str, indent: str = "   ") -> list[str]:
    return wrapped(text, page.width, indent, indent + "  ")


def _fact(page: Page, name: str, *values: str) -> Iterable[str]:
    """Write a name and its values under one another; nothing when there is none."""
    head = f"     {name:<9}"
    for number, value in enumerate(value for value in values if value):
        text, *rest = wrapped(value, page.width, head if number == 0 else " " * len(head), " " * len(head) + "  ")
        yield page.faint(text[: len(head)]) + text[len(head) :]
        yield from rest
