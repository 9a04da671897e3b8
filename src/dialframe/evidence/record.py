"""One record of evidence, the three ways in which it names a number, and what is known of a number.

A number stands in a record as E.164 (`+12025550142`), as `sha256:` and the SHA-256 of some way to write it where
a list gave nothing else, or as `forgotten:` and a keyed hash once its person was forgotten.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Literal, get_args

from dialframe.errors import ConfigError
from dialframe.privacy import E164, mask

Kind = Literal[
    "check",  # the service said whether a number is on its Do-Not-Call list: detail.listed
    "dnc_add",  # the service was asked to put a number on that list
    "refusal",  # a lead, a disposition or an event of the service says: not to be called
    "suppression",  # the firm put a number on its own list
    "suppression_undone",  # a person took one off: all of it, or what detail.undoes (a run or a source) put there
    "consent",
    "relationship",
    "reassigned",
    "line_type",
    "scrub",
    "registry",
    "write",  # a request that changes something: begun, and what became of it
    "event",
    "import",
    "audit",
    "experiment",  # a lead was drawn to an arm: detail.experiment, detail.arm, detail.arms
    "assistant",
    "pruned",  # old rows were deleted from a store: detail.before, detail.deleted
    "forgotten",  # a person was erased: applied again to whatever is restored
]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
#: Kinds after which a number must not be called until a person says otherwise; a check that says `listed` holds
#: until the next check.
PROHIBITIONS: Final[tuple[Kind, ...]] = ("suppression", "dnc_add", "refusal")

#: Dispositions that mean "do not call me again"; case, blanks, dashes and underscores do not matter.
#: Codes for numbers that the dialer itself held back (VICIdial's DNCL, DNCC) are none: nobody was spoken to.
REQUEST_CODES: Final = ("DNC", "REMOVE", "STOP", "DO NOT CALL", "DNC REQUEST", "OPT OUT")

HASHED: Final = "sha256:"
FORGOTTEN: Final = "forgotten:"
_HASH: Final = re.compile(r"sha256:[0-9a-f]{64}|forgotten:[0-9a-f]{32}")
_ENCODE: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_OPTIONAL: Final = ("number", "source", "list", "who", "request_id", "run")
#: ITU-T E.164, Annex D: country codes of one and of two digits; all others have three.
_ONE_DIGIT: Final = frozenset("17")
_TWO_DIGITS: Final = re.compile("2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]")


@dataclass(frozen=True, slots=True)
class Record:
    """What somebody did, asked or was told, once.

    Attributes:
        kind: One of `KINDS`.
        at: When it was so, with a zone; kept in UTC to the microsecond.
        number: E.164, `sha256:` and 64 hexadecimal digits, `forgotten:` and 32, or None where it is about no number.
        source: Who says so: a file, `service`, an operation, a person.
        list: Name of the list that it stands on, if any.
        who: The person or program that acted.
        request_id: The service's id of the answer.
        run: Id of the command that wrote it, by which it can be shown and undone.
        detail: More facts, as JSON values.

    Raises:
        ConfigError: The kind is unknown, the instant has no zone, or the number is none.
    """

    kind: Kind
    at: datetime
    number: str | None = None
    source: str = ""
    list: str | None = None
    who: str | None = None
    request_id: str | None = None
    run: str | None = None
    detail: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ConfigError(f"{self.kind!r} is not a kind of evidence: {', '.join(KINDS)}")
        if self.at.tzinfo is None:
            raise ConfigError("the instant of a record of evidence needs a time zone")
        number = self.number
        if number is not None and not (E164.fullmatch(number) or _HASH.fullmatch(number)):
            raise ConfigError(f"{mask(number)} is not an E.164 number; write +12025550142")

    def __repr__(self) -> str:
        return f"Record({self.kind}, {self.shown}, source={self.source!r}, at={self.at:%Y-%m-%d %H:%M})"

    @property
    def shown(self) -> str:
        """The number, masked; the beginning of its hash where only that is known."""
        if self.number is None:
            return "no number"
        return mask(self.number) if self.number[0] == "+" else f"{self.number[:15]}..."

    def encoded(self) -> str:
        """The record as one line of JSON, without its line end; what is empty is left out.

        Returns:
            Text.
        """
        # Every instant is as long as every other, so that their texts sort as they do.
        at = self.at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds")
        content: dict[str, Any] = {"kind": self.kind, "at": f"{at}Z"}
        for name in _OPTIONAL:
            value = getattr(self, name)
            if value:
                content[name] = value
        if self.detail:
            content["detail"] = self.detail
        return _ENCODE(content)

    @classmethod
    def decoded(cls, content: Mapping[str, Any]) -> Record:
        """The record of a line.

        Args:
            content: The line's JSON.

        Returns:
            The record.

        Raises:
            ValueError: It is none.
        """
        try:
            return cls(
                content["kind"],
                datetime.fromisoformat(content["at"]),
                content.get("number"),
                content.get("source", ""),
                content.get("list"),
                content.get("who"),
                content.get("request_id"),
                content.get("run"),
                content.get("detail", {}),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"it is not a record: {error}") from None


@dataclass(frozen=True, slots=True)
class NumberFacts:
    """What is known of one number at one instant.

    Attributes:
        prohibition: The newest of what prohibits a call and was not taken back, the service's last word that it is
            listed among it; or None.
        check: What the service last said about its Do-Not-Call list, or None; it answers that question alone.
        consent: The newest consent, or None.
    """

    prohibition: Record | None = None
    check: Record | None = None
    consent: Record | None = None


def hashed(text: str) -> str:
    """A number that is only known by the SHA-256 of some way to write it, as a record names it.

    Args:
        text: The number as some list wrote it.

    Returns:
        `sha256:` and 64 hexadecimal digits.

    Example:
        >>> hashed("+12025550142")[:19]
        'sha256:409483139e44'
    """
    return HASHED + hashlib.sha256(text.encode()).hexdigest()


def hashes_of(phone: str) -> tuple[str, ...]:
    """What lists of SHA-256 may hold of a number: with and without `+`, national, national with a zero before it.

    Args:
        phone: E.164.

    Returns:
        Four names, as `hashed` makes them.

    Example:
        >>> len(hashes_of("+442079460123"))
        4
    """
    national = national_digits(phone)
    return tuple(hashed(text) for text in (phone, phone[1:], national, f"0{national}"))


def national_digits(phone: str) -> str:
    """The digits of an E.164 number without its country code."""
    digits = phone[1:]
    return digits[1 if digits[0] in _ONE_DIGIT else 2 if _TWO_DIGITS.match(digits) else 3 :]
