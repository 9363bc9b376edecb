"""The HTML report as a person sees it: in Chromium, narrow and wide, light and dark, with and without its script."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect
from playwright.sync_api import Page as Tab

from auditor.render import Page
from auditor.triage import Report
from tests.e2e.process import ENGINE, run
from tests.unit.render import sample
from tests.unit.render.test_html import seen

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

PAGE = Page(lines=sample.lines)
Address = Callable[..., str]


@contextmanager
def opened(browser: Browser, address: str, *, width: int = 1200, **options: Any) -> Iterator[Tab]:
    """A tab with the page, in which nothing may go wrong and nothing but the file may be asked for."""
    context = browser.new_context(viewport={"width": width, "height": 900}, **options)
    tab = context.new_page()
    faults: list[str] = []
    asked: list[str] = []
    tab.on("console", lambda message: faults.append(message.text))
    tab.on("pageerror", lambda error: faults.append(str(error)))
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(address)
    yield tab
    context.close()
    assert faults == []
    assert {one.partition("#")[0] for one in asked} == {address.partition("#")[0]}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The report of a real audit, as the command writes it."""
    file = tmp_path_factory.mktemp("engine") / "report.html"
    assert run("check", ENGINE, "-o", f"html:{file}", "--no-timing", "--quiet").exit == 1
    return file.as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 800, 1400])
def test_accessible_and_as_wide_as_the_window(browser: Browser, engine: str, width: int, scheme: Any) -> None:
    """axe finds nothing, nothing scrolls sideways, the colours are those of the scheme; everything is unfolded."""
    with opened(browser, engine, width=width, color_scheme=scheme) as tab:
        tab.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        violations = Axe().run(tab).response["violations"]
        assert [(one["id"], one["nodes"][0]["html"]) for one in violations] == []
        background = tab.evaluate("getComputedStyle(document.body).backgroundColor")
        assert background == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 24, 30)"}[scheme]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_timelines_are_accessible_and_as_wide_as_the_window(
    browser: Browser, address: Address, width: int, scheme: Any
) -> None:
    """A wide one scrolls in its own frame; its text has the colour of the scheme."""
    names = ["x", "x" * 60, "ein & <b>"]
    records = [one for name in names for one in seen(name).evidence]
    with opened(
        browser, address(sample.REPORT, replace(PAGE, evidence=records)), width=width, color_scheme=scheme
    ) as tab:
        tab.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        assert tab.locator("svg.timeline").count() == len(records)
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        violations = Axe().run(tab).response["violations"]
        assert [(one["id"], one["nodes"][0]["html"]) for one in violations] == []
        colour = tab.evaluate("getComputedStyle(document.querySelector('svg.timeline text')).fill")
        assert colour == {"light": "rgb(29, 36, 48)", "dark": "rgb(230, 233, 239)"}[scheme]


def test_works_without_its_script(browser: Browser, address: Address) -> None:
    """No filter that would do nothing; everything is there, unfolds, and a link into a folded part unfolds it."""
    with opened(browser, address(sample.REPORT, PAGE), java_script_enabled=False) as tab:
        assert not tab.locator("#filter").is_visible()
        assert tab.locator(".finding").count() == len(sample.FINDINGS)
        assert tab.locator("#f2 .picture").is_visible()
        assert tab.locator("#f2 .line.hit").first.is_visible()
        site = tab.locator("#s1 .row")
        assert not site.is_visible()
        tab.locator("#s1 > summary").click()
        assert site.is_visible()
        tab.locator("#s1 .targets a").first.click()
        assert tab.locator(":target").is_visible()


def test_search_and_filters(browser: Browser, address: Address) -> None:
    """What does not fit is hidden and counted; Escape brings everything back."""
    with opened(browser, address(sample.REPORT, PAGE)) as tab:
        shown = tab.locator(".item:not([hidden])")
        status = tab.locator("#status")
        assert status.inner_text() == "10 of 10 findings, 6 of 6 sites"
        tab.keyboard.press("/")
        tab.keyboard.type("DRAFT_k_buffer")
        expect(shown).to_have_count(1)
        assert shown.first.get_attribute("id") == "f3"
        assert not tab.locator(".file").first.is_visible()
        tab.keyboard.press("Escape")
        assert shown.count() == 16
        tab.get_by_label("exempt").uncheck()
        tab.get_by_label("note", exact=True).uncheck()
        assert status.inner_text() == "3 of 10 findings, 5 of 6 sites"
        tab.get_by_label("suppressed").uncheck()
        assert status.inner_text() == "2 of 10 findings, 5 of 6 sites"


def test_keyboard(browser: Browser, address: Address) -> None:
    """j and k go from one to the next, o opens and closes."""
    with opened(browser, address(sample.REPORT, PAGE)) as tab:
        focused = "document.activeElement.closest('.item')?.id"
        tab.keyboard.press("j")
        assert tab.evaluate(focused) == "f1"
        tab.keyboard.press("j")
        tab.keyboard.press("j")
        tab.keyboard.press("k")
        assert tab.evaluate(focused) == "f2"
        assert tab.locator("#f2 .picture").is_visible()
        tab.keyboard.press("o")
        assert not tab.locator("#f2 .picture").is_visible()


def test_a_link_opens_what_it_leads_to(browser: Browser, address: Address) -> None:
    """From outside, and to something that a filter hides."""
    with opened(browser, address(sample.REPORT, PAGE) + "#s2") as tab:
        assert tab.locator("#s2 .row").is_visible()
        tab.get_by_label("gated", exact=True).uncheck()
        assert not tab.locator("#s1").is_visible()
        tab.evaluate("location.hash = '#s1'")
        expect(tab.locator("#s1 .row")).to_be_visible()


def test_print_is_light_and_unfolds_the_findings(browser: Browser, address: Address) -> None:
    """Also without the script, and from a dark screen."""
    with opened(browser, address(sample.REPORT, PAGE), java_script_enabled=False, color_scheme="dark") as tab:
        hidden = tab.locator("#f4 .facts")
        assert (hidden.bounding_box() or {"height": 0})["height"] == 0
        tab.emulate_media(media="print")
        assert not tab.locator("nav").is_visible()
        assert (hidden.bounding_box() or {"height": 0})["height"] > 0
        assert tab.pdf(format="A4").startswith(b"%PDF")


def test_no_other_script_runs(browser: Browser, address: Address) -> None:
    """Even if an escape were missing: the policy refuses, and says so."""
    attack = "<script>document.title = 'taken'</script><img src=x onerror=\"document.title = 'taken'\">"

    def attacked(html: str) -> str:
        assert "a suppressed one" in html
        return html.replace("a suppressed one", attack)

    context = browser.new_context()
    tab = context.new_page()
    refused: list[str] = []
    tab.on("console", lambda message: refused.append(message.text))
    tab.goto(address(sample.REPORT, PAGE, attacked))
    assert tab.title() == "bufgate: sglang 0.5.23"
    assert any("Content Security Policy" in text for text in refused)
    context.close()


def test_thousands_of_sites_open_fast(browser: Browser, address: Address) -> None:
    """5,000 sites with 20,000 bindings are there in less than 10 s on a busy machine (1 s on an idle one)."""
    bindings = [replace(sample.GATED, objects=(f"x.py:{n}",)) for n in range(4)]
    many = (
        replace(sample.site(f"s{n}", n, "get_key_buffer", "gated", *bindings), path=f"pkg/f{n // 20}.py")
        for n in range(1, 5001)
    )
    report: Report = replace(sample.REPORT, sites=tuple(many))
    with opened(browser, address(report, PAGE)) as tab:
        milliseconds = tab.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
        assert tab.locator("#status").inner_text().endswith("5000 of 5000 sites")
        assert milliseconds < 10_000


def test_the_command_writes_it(engine: str) -> None:
    """One file, with nothing beside it."""
    file = Path(engine.removeprefix("file://"))
    assert [one.name for one in file.parent.iterdir()] == ["report.html"]
