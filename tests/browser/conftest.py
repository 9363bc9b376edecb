"""A real browser, and reports as files that it opens."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from auditor.render import FORMATS, Page
from auditor.triage import Report

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync",
]  # fmt: skip


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium of the system, headless; skip where it is not installed."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not program:
        pytest.skip("Chromium is not installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def address(tmp_path: Path) -> Callable[..., str]:
    """Write a report as HTML and give its address."""

    def write(report: Report, page: Page, change: Callable[[str], str] = str) -> str:
        file = tmp_path / "report.html"
        file.write_text(change(FORMATS["html"](report, page)), encoding="utf-8")
        return file.as_uri()

    return write
