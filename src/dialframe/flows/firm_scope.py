"""What a firm file says of an audit: rules, practice and files of evidence, as the scope that audit and gate take."""

from __future__ import annotations

from datetime import datetime

from dialframe import compliance
from dialframe.compliance.rules import overrides, rulebook
from dialframe.errors import ConfigError
from dialframe.firm import Firm
from dialframe.flows import firm_records
from dialframe.flows.firm_records import Scope

__all__ = ["firm_scope"]


def firm_scope(
    firm: Firm, now: datetime, *, since: datetime | None = None, until: datetime | None = None
) -> Scope:
    """The scope of an audit by a firm file; an empty firm asks every rule and brings nothing.

    Args:
        firm: What the firm file says.
        now: The moment, UTC.
        since: First instant of the period; None: no bound.
        until: First instant after it; None: the moment.

    Raises:
        ConfigError: The firm file names a file that cannot be read, or a practice that does not fit.
    """
    audit, region = firm.audit, firm.lists.region
    consents = next(iter(firm.evidence.consents), None)
    look_ups = next(iter(firm.evidence.reassigned), None)
    try:
        book = rulebook.load()
        if audit.own_rules is not None:
            text = audit.own_rules.read_text(encoding="utf-8")
            book = overrides.apply(book, text, name=str(audit.own_rules))
        files = {
            "own": audit.own_rules, "codes": audit.codes, "consents": consents, "look_ups": look_ups,
            "practice": firm.path if firm.practice else None,
        }  # fmt: skip
        question = compliance.Question(
            now=now,
            since=since,
            until=until,
            rules=list(audit.rules) or None,
            rulebook=book,
            practice=firm_records.firm_practice(firm, book),
            consents=firm_records.records(consents, "consents", region=region).frame,
            look_ups=firm_records.records(look_ups, "look-ups", region=region).frame,
        )
        return Scope(
            question, inputs=firm_records.digests(files), options={"region": region},
            taxonomy=firm_records.own_codes(audit.codes),
        )  # fmt: skip
    except OSError as error:
        raise ConfigError(f"dialframe.toml names {error.filename}: {error.strerror}") from None
