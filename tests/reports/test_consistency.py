"""Every report and page of one account is opened, and no two of them state different numbers of one thing."""

from __future__ import annotations

import datetime as dt
import io
import json
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
import pytest

import dialframe
from dialframe import compliance
from dialframe.account import Account, connect
from dialframe.app import App, serve
from dialframe.assistant import analysis_tools
from dialframe.cli.entry_point import run
from dialframe.cli.terminal import Answer
from dialframe.compliance.checks import texts
from dialframe.firm import Firm
from dialframe.flows import reporting
from dialframe.plots.picture import Picture
from dialframe.reports.audit_page import name_of
from dialframe.suppression import SuppressionList
from dialframe.widgets import CoverageDashboard, FunnelExplorer
from reports.statements import WAYS, Statement, contradictions, of_facts, of_text, text_of

TITLES = {name: name_of(name) for name in texts()}
#: The title of a check in the story of a call.
LONG = {name: each.title for name, each in texts().items()}
#: A firm that says something of itself: a face that does not read its file gives other numbers.
FIRM = """
lists = {region = "US"}
practice = {dialing = "manual", recorded = false, artificial_voice = false}
"""
LIST = "us_autumn_campaign.csv"
#: What a face of the web app shows, and the job that it waits for.
PAGES = (
    "/", "/lists", f"/lists/{LIST}", "/compliance", "/compliance/report", "/performance/funnel",
)  # fmt: skip
#: Analyses whose claims every face makes word for word: the command, and the page of the web app.
ANALYSES = {
    "hours": "hours", "scorecard": "sources", "attempts": "attempts", "caller_ids": "caller_ids", "changes": "changes",
}  # fmt: skip
NUMBER = "+12125550142"
TOOLS = ("campaign_funnel", "dnc_coverage", "call_audit")
AT = dt.datetime(2026, 10, 30, 12, tzinfo=dt.UTC)


@dataclass
class Faces:
    """What each face says: words of its pages and terminal, objects of its answers for machines."""

    texts: dict[str, str] = field(default_factory=dict)
    facts: dict[str, dict[str, Any]] = field(default_factory=dict)

    def statements(self) -> Iterator[Statement]:
        """All of them."""
        for name, text in self.texts.items():
            yield from of_text(text, name)
        for name, facts in self.facts.items():
            yield from of_facts(facts, name, TITLES)
        yield from self._claims()
        yield from self._answers()

    def _claims(self) -> Iterator[Statement]:
        """The claims of each analysis: a face that changes a word of one says something else."""
        for name, page in ANALYSES.items():
            faces = (f"analyze {name}", f"app /performance/{page}")
            for claim in self.facts[f"analyze {name} --json"]["claims"]:
                subject = f"claim of {name}, {claim['kind']} {claim['subject']}"
                yield Statement(subject, claim["text"], f"analyze {name} --json")
                for face in faces:
                    said = claim["text"] in " ".join(self.texts[face].split())
                    yield Statement(subject, claim["text"] if said else "something else", face)

    def _answers(self) -> Iterator[Statement]:
        """Whether a number may be called, and the grades in the story of a call."""
        gate = f"gate {NUMBER}"
        (verdict,) = self.facts[f"{gate} --json"]["verdicts"]
        held = [TITLES.get(name, name) for name in verdict["held_by"].split(", ")]
        yield Statement("gate", f"held by {', '.join(held)}", f"{gate} --json")
        page = f"app /compliance/gate?number=%2B{NUMBER[1:]}"
        for each in re.findall(r"held by: (.*)\.", self.texts[page]):
            yield Statement("gate", f"held by {each}", page)
        for name, facts in self.facts.items():
            for step in facts.get("steps", ()) if name.startswith("audit why") else ():
                for row in step["rows"] if step["name"] == "grades" else ():
                    yield Statement(f"grade by {row['check']}", row["grade"], name)
        for name, text in self.texts.items():
            if name.startswith(("audit why", "app /compliance/calls/")):
                for check, title in LONG.items():
                    way = rf"{re.escape(title)}(?:; Grade: | \| )(violation|pass|uncertain|not evaluable)\b"
                    for grade in re.findall(way, text):
                        yield Statement(f"grade by {check}", grade, name)


@pytest.fixture(scope="module")
def faces(tmp_path_factory: pytest.TempPathFactory, samples: Path) -> Iterator[Faces]:
    """One account, one list, one firm file, shown by every face."""
    room = tmp_path_factory.mktemp("firm")
    opened = Faces()
    with (
        pytest.MonkeyPatch.context() as patch,
        dialframe.sandbox.start(size="tiny", seed=7, as_of=AT.date()) as box,
        connect(box.base_url, box.api_key, room / "store") as account,
    ):
        patch.chdir(room)
        for name, value in (("BASE_URL", box.base_url), ("API_KEY", box.api_key), ("STORE", room / "store")):  # fmt: skip
            patch.setenv(f"DIALFRAME_{name}", str(value))
        # Its words are what is compared; drawing takes most of the time of a report.
        patch.setattr(Picture, "png", lambda *_, **__: b"")
        asked = reporting._asked
        patch.setattr(reporting, "_asked", lambda *given: asked(*given)[:1])
        patch.setattr(compliance, "audit", _once(compliance.audit))
        (room / "dialframe.toml").write_text(FIRM)
        shutil.copy(samples / "leads" / LIST, room / LIST)
        account.sync()
        # In part, so that the numbers that were checked are neither none nor all.
        account.check_dnc(account.leads()["phone"].dropna().unique()[::3])
        call_id = str(account.calls()["id"].iloc[-1])
        _commands(opened, room, patch, call_id)
        _tools_and_widgets(opened, account)
        with serve(
            room, lambda: connect(store=room / "store"), firm=Firm.find(room),
            own_list=SuppressionList.beside(room / "store"), profiles=room / "profiles",
        ) as app:  # fmt: skip
            _pages(opened, app, call_id)
        yield opened


def _once(audit: Callable[..., compliance.Audit]) -> Callable[..., compliance.Audit]:
    """The same audit for the same question: what could differ between faces is what they ask."""
    known: dict[str, compliance.Audit] = {}

    def ask(tables: Mapping[str, pd.DataFrame], question: compliance.Question) -> compliance.Audit:
        asked = repr((question.practice, question.rules, question.since, question.until))
        if asked not in known:
            known[asked] = audit(tables, question)
        return known[asked]

    return ask


def _commands(opened: Faces, room: Path, patch: pytest.MonkeyPatch, call_id: str) -> None:
    """Each command once: its words, its object, and the page that it writes."""
    answers: list[Answer] = []
    give = Answer.give

    def keep(self: Answer, *, as_json: bool) -> None:
        answers.append(self)
        give(self, as_json=as_json)

    patch.setattr(Answer, "give", keep)
    for line in (
        f"leads clean {LIST} --out cleaned --dry-run", f"leads clean {LIST} --out cleaned", "audit",
        "report --out .", "analyze funnel", *(f"analyze {name}" for name in ANALYSES), f"gate {NUMBER}",
        f"audit why {call_id}",
    ):  # fmt: skip
        out = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
        with redirect_stdout(out), redirect_stderr(io.StringIO()):
            status = run(line.split())
        assert status in (0, 3), line
        opened.texts[line] = out.buffer.getvalue().decode()  # type: ignore[attr-defined]
        opened.facts[f"{line} --json"] = json.loads(json.dumps(answers[-1].facts, default=str))
    for page in (room / "cleaned" / f"{Path(LIST).stem}.report.html", room / "report.html"):  # fmt: skip
        opened.texts[str(page.relative_to(room))] = text_of(page.read_text())


def _tools_and_widgets(opened: Faces, account: Account) -> None:
    now = dt.datetime.now(dt.UTC)
    for name in TOOLS:
        asked = analysis_tools.Asked(account, {}, now)
        opened.facts[f"assistant {name}"] = json.loads(
            json.dumps(analysis_tools.BY_NAME[name].run(asked), default=str)
        )
    board = CoverageDashboard(account)
    board.show()
    opened.texts["widget CoverageDashboard"] = text_of(board.answer.value)
    opened.texts["widget FunnelExplorer"] = text_of(FunnelExplorer(account).answer.value)


def _pages(opened: Faces, app: App, call_id: str) -> None:
    with httpx.Client(
        base_url=app.url, headers={"origin": app.url}, follow_redirects=True, timeout=30
    ) as client:
        client.get(app.link)
        for address, form, job in (
            ("/compliance/audit", {}, "audit"), (f"/lists/{LIST}/clean", {"region": "US"}, f"list-{LIST}"),
        ):  # fmt: skip
            client.post(address, data=form)
            deadline = time.monotonic() + 60
            while client.get(f"/jobs/{job}").json()["state"] == "running":
                assert time.monotonic() < deadline
                time.sleep(0.02)
        for address in (
            *PAGES, *(f"/performance/{page}" for page in ANALYSES.values()),
            f"/compliance/gate?number=%2B{NUMBER[1:]}", f"/compliance/calls/{call_id}",
        ):  # fmt: skip
            opened.texts[f"app {address}"] = text_of(client.get(address).text)


def test_no_two_statements_about_one_thing_differ(faces: Faces) -> None:
    """Commands, pages, packs, the assistant, widgets and the web app give one number for one thing."""
    assert contradictions(list(faces.statements())) == []


def test_every_face_states_something(faces: Faces) -> None:
    """So that a page whose words changed does not drop out of the comparison in silence."""
    # What claims nothing has nothing to compare.
    claiming = {name for name in ANALYSES if faces.facts[f"analyze {name} --json"]["claims"]}
    assert len(claiming) >= 4
    silent = {"app /", "app /lists", f"gate {NUMBER}"}
    for name in ANALYSES.keys() - claiming:
        silent |= {
            f"analyze {name}",
            f"analyze {name} --json",
            f"app /performance/{ANALYSES[name]}",
        }
    stating = {each.where for each in faces.statements()}
    assert {*faces.texts, *faces.facts} - stating <= silent


def test_every_way_of_saying_a_number_is_met(faces: Faces) -> None:
    """A subject is stated by two faces at least, else nothing is compared."""
    where: dict[str, set[str]] = {}
    for each in faces.statements():
        where.setdefault(each.subject, set()).add(each.where.partition(",")[0])
    assert {subject for subject in WAYS if len(where.get(subject, ())) < 2} == set()


def test_a_planted_contradiction_is_found(faces: Faces) -> None:
    """The first number that a face states of each thing is changed; every change is seen, beside the others or itself."""
    everything = list(faces.statements())
    for name, text in faces.texts.items():
        firsts: dict[str, Statement] = {}
        for each in of_text(text, name):
            firsts.setdefault(each.subject, each)
        changed = text
        for each in sorted(firsts.values(), key=lambda each: each.at, reverse=True):
            begin, end = each.at
            changed = changed[:begin] + _other(each.value) + changed[end:]
        others = [each for each in everything if each.where != name]
        found = {
            line.partition(":")[0] for line in contradictions([*others, *of_text(changed, name)])
        }
        assert found >= firsts.keys() & {each.subject for each in others}, name


@pytest.mark.parametrize(
    ("page", "subject"),
    [("hours", "claim of hours"), ("compliance/gate", "gate"), ("compliance/calls", "grade by")],
)
def test_a_changed_claim_verdict_or_grade_is_found(faces: Faces, page: str, subject: str) -> None:
    """Of each kind that has a way of its own."""
    (name,) = [each for each in faces.texts if page in each and each.startswith("app")]
    changed = re.sub(r"\d", "7", faces.texts[name]) if page == "hours" else faces.texts[name]
    for word, other in (("held by: ", "held by: Weather, "), (" | pass", " | violation")):
        changed = changed.replace(word, other, 1)
    planted = Faces(faces.texts | {name: changed}, faces.facts)
    assert [line for line in contradictions(planted.statements()) if line.startswith(subject)]


def _other(value: str) -> str:
    """Another number of the same length."""
    return value[:-1] + str((int(value[-1]) + 1) % 10)
