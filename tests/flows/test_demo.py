"""The demo runs the whole way, finds what was planted and nothing else, and writes one page."""

from __future__ import annotations

from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dialframe import sandbox
from dialframe.config import Progress
from dialframe.firm import Firm
from dialframe.flows.demo import Demo, demo
from dialframe.reports.audit_findings import headlines
from reports.statements import contradictions, of_text, text_of

CHROMIUM = "/usr/bin/chromium"

#: Faults that the audit has a check for, and the check.
CHECKED = {
    "out_of_hours_dst_week": "calling_hours",
    "before_hours": "calling_hours",
    "mixed_zone_hours": "calling_hours",
    "call_after_dnc_disposition": "listed_number",
    "call_to_number_listed_after_import": "listed_number",
}


class Run:
    """One demo with the answer sheet of its account."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.truth: list[dict[str, Any]] = []
        self.steps: list[Progress] = []
        self.result: Demo = demo(
            out,
            now=lambda: datetime.now(UTC),
            size="tiny",
            on_progress=self.steps.append,
            on_sandbox=self._keep,
        )

    def _keep(self, service: sandbox.Sandbox) -> None:
        self.truth = service.ground_truth()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A demo on the tiny account."""
    return Run(tmp_path_factory.mktemp("demo"))


#: The answer sheet is of federal law; what states add is found beside it, by rules of theirs.
FEDERAL = ("us-tsr-hours", "us-tcpa-hours", "us-tcpa-internal-dnc", "us-tsr-internal-dnc")


@pytest.mark.parametrize("check", sorted(set(CHECKED.values())))
def test_audit_finds_what_was_planted_and_no_other_breach_of_federal_law(
    run: Run, check: str
) -> None:
    """Planted violations are the violations of federal rules, and nothing planted in doubt is a pass."""
    planted = {
        row["id"]: row["expected"]
        for row in run.truth
        if CHECKED.get(row["fault"]) == check and row["expected"] != "clear"
    }
    findings = run.result.audit.findings
    rows = findings[findings["check"] == check]
    federal = (
        rows["rule_id"].fillna("").map(lambda ids: not set(FEDERAL).isdisjoint(ids.split("; ")))
    )
    violations = set(rows.loc[federal & (rows["grade"] == "violation"), "call_id"])

    assert planted
    assert violations == {
        call for call, said in planted.items() if said in ("violation", "proven")
    }
    assert set(planted) <= set(rows["call_id"].dropna())


def test_no_two_statements_about_one_number_differ(run: Run) -> None:
    """Page, sentences and pictures say the same of each number, and of the same whole."""
    page = text_of(run.result.files["report"].read_text())
    said = [*of_text(page, "page"), *of_text("\n".join(run.result.findings), "terminal")]

    assert contradictions(said) == []
    assert {each.subject for each in said if each.where == "terminal"} <= {
        each.subject for each in said if each.where == "page"
    }


def test_the_firm_file_decides_nearly_every_question(run: Run) -> None:
    """The firm's folder is on disk, as anybody writes it, and what it says is what the audit is given."""
    answered = next(
        each for each in headlines(run.result.audit) if each.key == "questions_with_an_answer"
    )
    assert answered.share is not None
    assert answered.share >= 0.95
    firm = Firm.read(run.result.files["firm"])
    named = [path for _, paths in firm.evidence for path in paths]
    assert len(named) >= 4
    assert all(path.is_file() for path in named)
    assert "scrubs" in run.result.audit.inputs


def test_the_demo_shows_an_open_question_and_a_forecast(run: Run) -> None:
    """On the terminal and on the page."""
    said = "\n".join(run.result.findings)
    page = text_of(run.result.files["report"].read_text())
    assert "A question is open: what does “only e-mail” in the column Do Not Call mean?" in said
    assert run.result.forecast.answer in said
    assert run.result.forecast.answer in page


def test_other_findings_are_consequences_of_planted_calls(run: Run) -> None:
    """A call with less than an import screen before it, or with a gap in its record, was planted."""
    findings = run.result.audit.findings
    others = findings[findings["check"].isin(["scrub_at_call", "records"])]
    planted = {row["id"] for row in run.truth if row["resource"] == "call"}
    screened = others["reason"].str.startswith(("screened at import ", "import screen "))
    screened &= others["check"] == "scrub_at_call"
    assert set(others.loc[screened, "grade"]) <= {"uncertain"}
    others = others[~screened]

    assert set(others["call_id"]) <= planted


def test_every_number_was_checked(run: Run) -> None:
    """After the demo no callable or called number is without a recent answer."""
    numbers = run.result.audit.coverage.numbers

    assert len(numbers) > 0
    assert set(numbers["state"]) == {"fresh"}


def test_lead_file_balances(run: Run) -> None:
    """Records in are records out, and what was sent is what was clean."""
    counts = run.result.prepared.cleaned.counts
    parts = ("clean", "rejected", "duplicates", "do_not_call", "skipped")

    assert counts["records"] == sum(counts[part] for part in parts)
    assert all(counts[part] > 0 for part in parts)
    assert run.result.ledger.counts["sent"] == counts["clean"]
    assert run.result.ledger.counts["unknown"] == 0


def test_listed_numbers_of_the_file_were_not_sent(run: Run) -> None:
    """The screen set aside what the service lists, so the import met none of it."""
    cleaned, ledger = run.result.prepared.cleaned, run.result.ledger

    assert "on_dnc" in set(cleaned.do_not_call["_reason"])
    assert "on_dnc" not in set(ledger.frame["status"])


def test_imported_leads_are_in_the_account(run: Run) -> None:
    """Every lead that the service accepted is among the leads of the funnel."""
    accepted = run.result.ledger.counts["accepted"]
    table = run.result.funnel.table.set_index("stage")["count"]

    assert table["accepted"] >= accepted > 0


class _Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.images: list[dict[str, str | None]] = []
        self.addresses: list[str] = []
        self.names: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        values = dict(attrs)
        if tag == "img":
            self.images.append(values)
        self.addresses += [str(values[name]) for name in ("src", "href") if name in values]


def test_report_is_one_file_with_pictures_and_words(run: Run) -> None:
    """The report fetches nothing, and every picture in it has alternative text."""
    page = _Page(run.result.files["report"].read_text())

    assert page.names.count("rect") >= 3 * 8
    assert all(str(image["alt"]).strip() for image in page.images)
    assert all(address.startswith(("data:", "#")) for address in page.addresses)
    assert not {"script", "link", "iframe"} & set(page.names)


def test_report_shows_no_whole_number(run: Run) -> None:
    """No called number stands in the report; the CSV files have them, for the owner alone."""
    text = run.result.files["report"].read_text()
    called = set(run.result.audit.findings["phone"].dropna())

    assert called
    assert not [phone for phone in called if phone in text]
    assert all(path.stat().st_mode & 0o077 == 0 for path in run.result.files.values())


def test_evidence_can_be_read_back(run: Run) -> None:
    """The findings on disk are the findings of the audit."""
    written = pd.read_csv(run.result.files["findings"], dtype="str")

    assert len(written) == len(run.result.audit.findings)
    assert set(written["phone"].dropna()) == set(run.result.audit.findings["phone"].dropna())


def test_progress_ends_where_it_said(run: Run) -> None:
    """Every step that knows its total reaches it."""
    last = {step.step: step for step in run.steps}

    assert len(last) >= 5
    assert all(step.total is None or step.done == step.total for step in last.values())


def test_demo_lead_file_is_the_sample(samples: Path) -> None:
    """The file in the package is the one among the samples."""
    from importlib import resources

    packaged = resources.files("dialframe.flows") / "data" / "us_autumn_campaign.csv"

    assert packaged.read_bytes() == (samples / "leads" / "us_autumn_campaign.csv").read_bytes()


@pytest.mark.browser
@pytest.mark.skipif(not Path(CHROMIUM).exists(), reason="needs Chromium at /usr/bin/chromium")
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_report_reads_well_in_a_browser(run: Run, width: int, scheme: str) -> None:
    """In a real browser the report asks no other host, complains of nothing and fits the screen."""
    from playwright.sync_api import sync_playwright

    asked: list[str] = []
    said: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-background-networking"]
        )
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.goto(run.result.files["report"].as_uri())
        fits = page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        drawn = page.evaluate(
            "[...document.images].every(i => i.complete && i.naturalWidth > 100)"
        )
        browser.close()

    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert said == []
    assert fits
    assert drawn
