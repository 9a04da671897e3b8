"""The questions that decide most calls of a store, and the firm file that keeps their answers.

Each question is one that the audit of the stored calls waits for; it says how many calls get an answer, and "don't
know" is always an answer, which is written nowhere. So no default claims anything, and asking again goes on with
what is still open.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Final

from dialframe.compliance import Audit
from dialframe.compliance.checks import BY_NAME
from dialframe.compliance.practice import DIALING
from dialframe.errors import ConfigError
from dialframe.files import write_text
from dialframe.firm import FILE_NAME, Firm

__all__ = ["MOST", "UNKNOWN", "Question", "questions", "sections_of", "write_firm"]

#: Questions that are asked at once.
MOST: Final = 8
#: The answer that claims nothing.
UNKNOWN: Final = "don't know"


@dataclass(frozen=True, slots=True)
class Question:
    """One question.

    Attributes:
        key: What a program calls it.
        text: The question.
        consequence: What an answer decides.
        choices: Answers that are possible; empty: a text, such as a path.
        calls: Calls that get an answer by it.
    """

    key: str
    text: str
    consequence: str
    choices: tuple[str, ...]
    calls: int


_YES_NO: Final = ("yes", "no")
_YES_OR_NO: Final = ("recorded", "recording_announced", "recording_agreed", "artificial_voice")
#: Questions whose answer is the path of a file: the section and the key of the firm file that keep it.
_FILES: Final = {
    "consents": ("evidence", "consents"), "scrubs": ("evidence", "scrubs"), "line_types": ("evidence", "line_types"),
    "look_ups": ("evidence", "reassigned"), "declared": ("audit", "declared"),
}  # fmt: skip


def questions(result: Audit, registries: Sequence[str]) -> tuple[Question, ...]:
    """The questions that decide calls of an audit, those that decide most first, at most `MOST`.

    Args:
        result: The audit of what is stored.
        registries: Lists that the rules which reach the calls speak of.

    Example:
        questions(dialframe.audit(account), ["US National DNC Registry"])
    """
    lists = "; ".join(registries)
    texts: Mapping[str, Sequence[tuple[str, str, tuple[str, ...]]]] = {
        "covers": (
            ("covers", f"Which lists does the service's Do-Not-Call check cover? Names, with semicolons between: {lists}", ()),
            ("refreshed_days", "How many days old is the service's copy of these lists at most?", ()),
        ),
        "scrubs": (("scrubs", "Which file has the results of your scrubs, with their days and lists? Its path", ()),),
        "line_types": (("line_types", "Which file says which numbers are mobile, residential or business lines? Its path", ()),),
        "emergencies": (("declared", "Which file has the days of emergencies that were declared where you called? Its path", ()),),
        "caller_ids": (("caller_ids", f"Are all numbers that the stored calls show your own? {_describe_audit(result)}", _YES_NO),),
        "dialing": (("dialing", "How are calls dialed?", DIALING),),
        "consents": (("consents", "Which file has the consents that people gave you? Its path", ()),),
        "look_ups": (("look_ups", "Which file has your look-ups of reassigned numbers? Its path", ()),),
        "recording": (
            ("recorded", "Are calls recorded?", _YES_NO),
            ("recording_announced", "Is the called person told of the recording at the start?", _YES_NO),
        ),
        "recording_agreed": (("recording_agreed", "Is nothing recorded before the called person agrees to it?", _YES_NO),),
        "confirmed": (("confirmed", f"Which of these rules did your counsel read in the statute, and agree with? Ids, with semicolons between: {_unread(result)}", ()),),
        "artificial_voice": (("artificial_voice", "Does an artificial voice speak on calls?", _YES_NO),),
    }  # fmt: skip
    asked = []
    for worth in result.worth:
        for key, text, choices in texts.get(worth.key, ()):
            checks = ", ".join(name.replace("_", " ") for name in worth.checks)
            consequence = f"decides {worth.calls:,} calls ({checks}); without it they stay open"
            asked.append(Question(key, text, consequence, choices, worth.calls))
    return tuple(asked[:MOST])


def _unread(result: Audit) -> str:
    """The rules that rest on a single source and hold calls back, those of most calls first."""
    return "; ".join(
        f"{rule} ({citation}: {title})" for rule, citation, title in _weak_rules(result)
    )


def _weak_rules(result: Audit) -> list[tuple[str, str, str]]:
    db = result.engine.db
    counts: Counter[str] = Counter()
    named = {rule: (rule_id, citation, title) for rule, rule_id, citation, title in db.rows(
        "select rule, rule_id, citation, title from rules where weak")}  # fmt: skip
    for name in result.engine.ran:
        if BY_NAME[name].by_call:
            rows = db.rows(
                f"select unnest(rules), sum(calls)::bigint from {name}_grades where grade = 'uncertain' group by 1"
            )
            counts.update({rule: calls for rule, calls in rows if rule in named})
    return [named[rule] for rule, _ in counts.most_common()]


def _describe_audit(result: Audit) -> str:
    numbers = _caller_ids(result)
    return ", ".join(numbers[:5]) + (f" and {len(numbers) - 5} more" if len(numbers) > 5 else "")


def _caller_ids(result: Audit) -> list[str]:
    rows = result.engine.db.rows(
        "select from_number from caller_numbers where form = 'valid' order by 1"
    )
    return [number for (number,) in rows]


def sections_of(
    given: Mapping[str, str], result: Audit, registries: Sequence[str], *, by: str, on: date
) -> dict[str, Any]:
    """The sections of a firm file that some answers come to: `practice`, `audit` and `evidence`.

    Args:
        given: Key of a question to its answer.
        result: The audit that the questions are of.
        registries: Lists that the rules speak of.
        by: Who answers.
        on: The day.

    Raises:
        ConfigError: An answer is none of those that are possible, or a file is not there.
    """
    answers = {
        key: text.strip() for key, text in given.items() if text.strip() not in ("", UNKNOWN)
    }
    sections: dict[str, dict[str, Any]] = {"practice": {}, "audit": {}, "evidence": {}}
    for key, text in answers.items():
        if key in _YES_OR_NO:
            sections["practice"][key] = _choice(key, text, _YES_NO) == "yes"
        elif key == "dialing":
            sections["practice"][key] = _choice(key, text, DIALING)
        elif key == "caller_ids" and _choice(key, text, _YES_NO) == "yes":
            sections["practice"][key] = _caller_ids(result)
        elif key == "covers":
            sections["practice"][key] = _covers(answers, registries, by, on)
        elif key == "confirmed":
            sections["audit"][key] = [{"rules": _ids(text, result), "by": by, "on": on}]
        elif key in _FILES:
            if not Path(text).is_file():
                raise ConfigError(f"{key}: there is no file {text}; name one that is there")
            section, name = _FILES[key]
            sections[section][name] = text if section == "audit" else [text]
        elif key not in ("caller_ids", "refreshed_days"):
            raise ConfigError(f"{key!r} is no question; `dialframe firm --json` lists them")
    return {name: section for name, section in sections.items() if section}


def _covers(
    answers: Mapping[str, str], registries: Sequence[str], by: str, on: date
) -> list[dict[str, Any]]:
    days = answers.get("refreshed_days", "")
    # A copy of an unknown age proves nothing of the day of a call.
    if not days.isdigit():
        raise ConfigError(
            "covers: say how many days old the service's copy is at most (refreshed_days), a whole number"
        )
    names = {name.casefold(): name for name in registries}
    given = [each.strip() for each in answers["covers"].split(";") if each.strip()]
    unknown = [name for name in given if name.casefold() not in names]
    if unknown:
        raise ConfigError(
            f"covers: {unknown[0]!r} is no list of the rules; use one of {'; '.join(registries)}"
        )
    return [
        {"registry": names[name.casefold()], "check": True, "screen": False,
         "refreshed_days": int(days), "by": by, "on": on}
        for name in given
    ]  # fmt: skip


def _ids(text: str, result: Audit) -> list[str]:
    open_rules = [rule for rule, _, _ in _weak_rules(result)]
    given = [each.strip() for each in text.split(";") if each.strip()]
    unknown = [name for name in given if name not in open_rules]
    if unknown:
        raise ConfigError(
            f"confirmed: {unknown[0]!r} is no rule that calls wait for; use some of {'; '.join(open_rules)}"
        )
    return given


def _choice(key: str, text: str, choices: Sequence[str]) -> str:
    if text not in choices:
        raise ConfigError(f"{key}: {text!r} is no answer; use {', '.join(choices)} or {UNKNOWN}")
    return text


#: Keys that nobody answered yet, as comments of a new file.
_COMMENTS: Final = """\
# What this firm says once, for every dialframe command. A line that begins with # is not said.
# The API key is never in this file; set DIALFRAME_API_KEY.

# [service]
# address = "https://api.example.com"     # the service's base address
# store = "store"                         # folder of the local store
# [lists]
# region = "US"                           # country of numbers without a country code
# [practice]
# purpose = "telemarketing_sales"         # or informational, debt_collection, survey, charity, political
# dialing = "predictive"                  # or manual, autodialer, prerecorded
# caller_ids = ["+12125550100"]           # the firm's own numbers
# callers_in = ["US-CA"]                  # where the callers sit
# recorded = true                         # whether calls are recorded
# recording_announced = true              # and whether the called person is told
# recording_agreed = true                 # and whether nothing is recorded before that person agrees
# artificial_voice = false                # whether an artificial voice speaks
# [evidence]
# consents = ["consents.csv"]             # consents given and withdrawn
# scrubs = ["scrub_results.csv"]          # what a scrubbing vendor said: number, list, day, line type
# line_types = ["line_types.csv"]         # mobile, residential and business lines, and days of porting
# relationships = ["relationships.csv"]   # business relationships with their end
# registries = ["registry.txt"]           # downloads of registries
# reassigned = ["rnd.csv"]                # answers of the Reassigned Numbers Database
# requests = ["requests.csv"]             # who asked the firm not to be called, and when
# [audit]
# declared = "declared.toml"              # days of declared emergencies
# [[audit.confirmed]]                     # rules of a single source whose text your counsel read
# rules = ["us-mi-hours"]
# by = "Jane Roe, counsel"
# on = 2026-11-25
"""


def write_firm(folder: Path, sections: Mapping[str, Any]) -> Path:
    """Add answers to the firm file of a folder, which is made where there is none; what it says otherwise stays.

    Raises:
        ConfigError: The file cannot be read, or would not be a firm file with the answers.
        OSError: The file cannot be written.
    """
    path = folder / FILE_NAME
    text = path.read_text(encoding="utf-8") if path.is_file() else _COMMENTS
    tables = tomllib.loads(text) if path.is_file() else {}
    for name, section in sections.items():
        merged = {**tables.get(name, {}), **section}
        # Each word on rules that were read stands under the name and day of its own.
        if "confirmed" in section:
            merged["confirmed"] = [
                *tables.get(name, {}).get("confirmed", []),
                *section["confirmed"],
            ]
        text = f"{_without(text, name).rstrip()}\n\n{_table(name, merged)}"
    # Read before it is written: a file that no command can read would stop all of them.
    Firm.from_text(text, path=path)
    write_text(text, path)
    return path


def _without(text: str, section: str) -> str:
    """The text without the tables of a section."""
    kept, inside = [], False
    for line in text.splitlines():
        header = re.match(r"\s*\[\[?\s*([\w-]+)", line)
        if header:
            inside = header[1] == section
        if not inside:
            kept.append(line)
    return "\n".join(kept)


def _table(name: str, values: Mapping[str, Any]) -> str:
    """A table as TOML: plain values first, then tables of its own."""
    plain = {k: v for k, v in values.items() if not _is_tables(v) and not isinstance(v, Mapping)}
    lines = [f"[{name}]", *(f"{_key(k)} = {_value(v)}" for k, v in plain.items())]
    for key, value in values.items():
        if _is_tables(value):
            for each in value:
                lines += [
                    "",
                    f"[[{name}.{_key(key)}]]",
                    *(f"{_key(k)} = {_value(v)}" for k, v in each.items()),
                ]
        elif isinstance(value, Mapping):
            lines += ["", _table(f"{name}.{_key(key)}", value).rstrip()]
    return "\n".join(lines) + "\n"


def _is_tables(value: object) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(each, Mapping) for each in value)
    )


def _key(name: str) -> str:
    return name if re.fullmatch(r"[\w-]+", name, re.ASCII) else _value(name)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    return str(value)
