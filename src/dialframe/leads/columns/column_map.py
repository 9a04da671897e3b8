"""Which column holds which field of a lead, and what a person should be asked about it; as values that can be saved."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Protocol

from dialframe.errors import ConfigError, LeadFileError
from dialframe.files import write_text
from dialframe.profiles import Column, Profile, load, save


def fingerprint(header: Sequence[str]) -> str:
    """What tells one header from another: SHA-256 of its names in order, blanks around them aside.

    The same for every file with the header, whatever its name, format, encoding or records.

    Args:
        header: The names of the columns.

    Returns:
        64 hexadecimal digits.

    Example:
        dialframe.leads.fingerprint(["Name", "Phone"])
    """
    # A mark or a blank is what the next export of the same program has or has not.
    names = [" ".join(name.replace("\ufeff", "").split()) for name in header]
    return hashlib.sha256(json.dumps(names, ensure_ascii=False).encode()).hexdigest()


class HasHeader(Protocol):
    """A file that was read, or that was cleaned."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def names(self) -> Sequence[str]:
        """Names of its columns."""

    @property
    def header(self) -> tuple[str, ...] | None:
        """Its header, or None."""


def saved_mapping(file: HasHeader, folder: str | Path) -> ColumnMap | None:
    """The map that was saved for the file's header, or None; a file without a header has none.

    Args:
        file: A file with the header.
        folder: Where maps are saved.

    Returns:
        The map, or None.

    Raises:
        ConfigError: What is saved there is no profile.

    Example:
        columns = dialframe.leads.saved_mapping(dialframe.leads.read("autumn.csv"), "mappings")
    """
    path = _path(file, folder)
    return _of_profile(load(path)) if path is not None and path.is_file() else None


def save_mapping(file: HasHeader, columns: ColumnMap, folder: str | Path) -> Path:
    """Keep the map for all files with this header; an earlier one is replaced whole.

    Args:
        file: A file with the header.
        columns: The map to keep.
        folder: Where maps are saved.

    Returns:
        The file, mode 0600 in a folder of mode 0700.

    Raises:
        ConfigError: The file has no header, or the folder cannot be written.

    Example:
        file = dialframe.leads.read("autumn.csv")
        dialframe.leads.save_mapping(file, dialframe.leads.map_columns(file, region="US"), "mappings")
    """
    # The names of the columns are all that tells one kind of list from another.
    path = _path(file, folder)
    if path is None:
        raise ConfigError(
            f"{file.name} has no header, so its columns cannot be told again; name them with "
            "header=[...] when it is read"
        )
    try:
        return save(_as_profile(file, columns, path.stem), path.parent)
    except OSError as problem:
        raise ConfigError(
            f"the mapping cannot be saved in {path.parent}: {problem.strerror}"
        ) from None


#: Roles of columns that are no field of a lead.
_KEPT: Final = "keep"
_IGNORED: Final = "ignore"


def _as_profile(file: HasHeader, columns: ColumnMap, name: str) -> Profile:
    """The columns of a source as a profile of its own, known by the header."""
    header = tuple(file.header or ())
    names = list(map(str, file.names))
    roles = {each: _IGNORED if each in columns.ignored else _KEPT for each in names}
    fields = columns.fields()
    for field_name, own in fields.items():
        if field_name != "phone":
            roles |= dict.fromkeys(own, field_name)
    roles |= dict.fromkeys(columns.phone_parts, "phone")
    more: dict[str, Any] = {
        "phone": columns.phone,
        "joined": columns.joined,
        "answers": columns.answers,
        "ignored": columns.ignored,
        "leftovers": columns.leftovers,
    }
    return Profile(
        name=name,
        title=f"lists with the header of {file.name}",
        kind="leads",
        header=header,
        columns=tuple(
            Column(
                header=each,
                role=role,
                label=columns.labels.get(each),
                values=columns.statuses.get(each, {}),
            )
            for each, role in roles.items()
        ),
        settings={key: value for key, value in more.items() if value},
    )


def _of_profile(profile: Profile) -> ColumnMap:
    """The columns that a person confirmed, from the profile that was saved of them."""
    fields: dict[str, list[str]] = {}
    for column in profile.columns:
        if column.role in FIELDS and column.role != "phone":
            fields.setdefault(column.role, []).append(column.header)
    more = profile.settings
    fields["phone"] = list(more.get("phone", ()))
    columns = ColumnMap.of(fields, tuple(more.get("leftovers", ())), joined=more.get("joined"))
    return replace(
        columns,
        profile=profile.title,
        ignored=tuple(more.get("ignored", ())),
        answers=more.get("answers", {}),
        statuses={each.header: each.values for each in profile.columns if each.values},
        labels={each.header: each.label for each in profile.columns if each.label},
    )


def forget_mapping(file: HasHeader, folder: str | Path) -> bool:
    """Forget the map of the file's header; whether there was one.

    Args:
        file: A file with the header.
        folder: Where maps are saved.

    Returns:
        Whether there was one.

    Example:
        dialframe.leads.forget_mapping(dialframe.leads.read("autumn.csv"), "mappings")
    """
    path = _path(file, folder)
    if path is None or not path.is_file():
        return False
    path.unlink()
    return True


def _path(file: HasHeader, folder: str | Path) -> Path | None:
    if file.header is None:
        return None
    return Path(folder) / f"{fingerprint(file.header)}.toml"


_SHOWN_COLUMNS: Final = 40
_SHOWN_CHARS: Final = 40


@dataclass(frozen=True, slots=True)
class Candidate:
    """A column that may be the field.

    Attributes:
        column: Its name.
        confidence: How sure that is, 0 to 1.
        cells: Some of its cells, where a face shows them.
    """

    column: str
    confidence: float
    cells: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """A field whose column is not sure.

    Attributes:
        field: The lead's field.
        candidates: Columns that may be it, the likeliest first; all columns where none is likely.
        why: One sentence.
        required: Whether nothing can be cleaned before it is answered; otherwise the first
            candidate is taken until somebody says otherwise.
    """

    field: str
    candidates: tuple[Candidate, ...]
    why: str
    required: bool


@dataclass(frozen=True, slots=True)
class MappingDecision:
    """The columns of one file by field, and the questions that are open.

    A face asks `questions` and decides again with the answers as `mapping`; a program calls
    `settled`, which refuses what is not sure enough.

    Attributes:
        name: The file.
        path: Where it is.
        columns: Its columns by field, or None while a required question is open.
        questions: What is not sure, required questions first.
    """

    name: str
    path: Path
    columns: ColumnMap | None
    questions: tuple[Question, ...] = ()

    # A program cannot ask anybody, so that an open question is an error for it.
    def settled(self) -> ColumnMap:
        """The columns by field.

        Raises:
            LeadFileError: A required question is open.
        """
        if self.columns is None:
            raise LeadFileError(self.questions[0].why, path=self.path)
        return self.columns

    def answer(self, answers: Mapping[str, str]) -> dict[str, str]:
        """Answers by field as a mapping for `decide`, checked against the questions.

        Args:
            answers: Field to the name of the column that was chosen.

        Raises:
            LeadFileError: An answer is no candidate of its question.
        """
        for question in self.questions:
            given = answers.get(question.field)
            # A face may be older than the question that it answers.
            known = [candidate.column for candidate in question.candidates]
            if given is not None and given not in known:
                raise LeadFileError(
                    f"{self.name}: {given!r} was not offered for {question.field}; choose one of: "
                    f"{shorten(known)}",
                    path=self.path,
                )
        return dict(answers)


def shorten(columns: list[str]) -> str:
    """Names of columns for a sentence; many and long ones do not fill the screen."""
    shown = [
        name if len(name) <= _SHOWN_CHARS else f"{name[:_SHOWN_CHARS]}..." for name in columns
    ]
    # A registry has hundreds of columns; a terminal has forty lines.
    more = f" and {len(shown) - _SHOWN_COLUMNS} more" if len(shown) > _SHOWN_COLUMNS else ""
    return ", ".join(shown[:_SHOWN_COLUMNS]) + more


#: Fields that one column gives.
SINGLE: Final = (
    "first_name",
    "last_name",
    "full_name",
    "email",
    "external_id",
    "source",
    "extension",
    "phone_other",
    "country",
)
#: Fields that several columns may give; phones in the order in which they are tried.
SEVERAL: Final = ("phone", "opt_out", "consent", "fax")
#: All fields.
FIELDS: Final = (*SEVERAL, *SINGLE)

#: A column, several in order, or none.
Columns = str | Sequence[str] | None
_VERSION: Final = 1
#: Attributes of a map that are saved where they hold something.
_MORE: Final = ("profile", "ignored", "statuses", "labels", "answers")


def _plain(value: object) -> Any:
    """A value as JSON has it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    return list(value) if isinstance(value, tuple) else value


@dataclass(frozen=True, slots=True)
class ColumnMap:
    """The columns of each field.

    Attributes:
        phone: Phone columns in the order in which they are tried: mobile, phone, home, work. One
            that is put together of several has a name of its own (`Area Code + Phone`).
        joined: Name of such a phone column to the columns that make it, from left to right.
        first_name: Column, or None.
        last_name: Column, or None.
        full_name: Column, or None.
        email: Column, or None.
        external_id: Column of the client's own id, or None.
        source: Column that says where the lead is from, or None.
        extension: Column of the extension behind the phone number, or None.
        phone_other: Column of a second number that is noted, not dialed, or None.
        country: Column that gives the region of national numbers row by row, or None; it stays
            a leftover column too.
        opt_out: Columns in which a yes forbids the call.
        consent: Columns in which only a yes allows it.
        fax: Fax columns; never dialed.
        leftovers: All other columns, in the file's order: the lead's custom fields.
        confidence: Field to how sure its columns are, 0 to 1; 1 for what was told.
        uncertain: Fields for which another column fits nearly as well, with that column.
        profile: Title of the source profile by which columns were recognized, or None.
        ignored: Columns in which no words are looked for: those that a profile knows to say nothing of
            calls, and those that somebody said so of.
        statuses: Column to what its codes say, by the profile: `opt_out`, `deceased` or `wrong_number`.
        labels: Phone column to the column that says what kind of number it holds.
        answers: Column to what somebody answered about phrases in it (`questions.ANSWERS`); `*` is
            any phrase.
    """

    phone: tuple[str, ...]
    first_name: str | None = None
    last_name: str | None = None
    full_name: str | None = None
    email: str | None = None
    external_id: str | None = None
    source: str | None = None
    extension: str | None = None
    phone_other: str | None = None
    country: str | None = None
    opt_out: tuple[str, ...] = ()
    consent: tuple[str, ...] = ()
    fax: tuple[str, ...] = ()
    leftovers: tuple[str, ...] = ()
    # How sure somebody was is no difference between two maps.
    confidence: Mapping[str, float] = field(default_factory=dict, compare=False)
    uncertain: Mapping[str, str] = field(default_factory=dict, compare=False)
    # Which columns are read is one, but a dictionary has no hash.
    joined: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    profile: str | None = field(default=None, compare=False)
    ignored: tuple[str, ...] = ()
    statuses: Mapping[str, Mapping[str, str]] = field(default_factory=dict, hash=False)
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)
    answers: Mapping[str, Mapping[str, str]] = field(default_factory=dict, hash=False)

    @property
    def phone_parts(self) -> tuple[str, ...]:
        """The columns of the file that the phone columns are made of, in order."""
        # Once each: a column may be a part of two numbers.
        parts = (part for name in self.phone for part in self.joined.get(name, (name,)))
        return tuple(dict.fromkeys(parts))

    def fields(self) -> dict[str, tuple[str, ...]]:
        """Columns of each field that has some."""
        # The order of `FIELDS`, which reports and saved maps keep.
        several = {name: tuple(getattr(self, name)) for name in SEVERAL}
        single = {name: (getattr(self, name),) for name in SINGLE if getattr(self, name)}
        return {name: columns for name, columns in (several | single).items() if columns}

    def to_dict(self) -> dict[str, Any]:
        """The map as plain values, as `save` writes them."""
        return {
            "version": _VERSION,
            "fields": {name: list(columns) for name, columns in self.fields().items()},
            "leftovers": list(self.leftovers),
            "confidence": dict(self.confidence),
            "uncertain": dict(self.uncertain),
            "joined": {name: list(columns) for name, columns in self.joined.items()},
            **{name: value for name in _MORE if (value := _plain(getattr(self, name)))},
        }

    def to_json(self) -> str:
        """The map as the text that `save` writes."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the map as JSON, for `load` and for the same list next month.

        Args:
            path: The file to write.
        """
        write_text(self.to_json(), Path(path))

    @classmethod
    def load(cls, path: str | Path) -> ColumnMap:
        """A map that was saved.

        Args:
            path: A file that `save` wrote.

        Raises:
            ConfigError: The file is no saved map.
        """
        try:
            # Whatever a person may have edited, or another program left there.
            saved = json.loads(Path(path).read_text(encoding="utf-8"))
            fields = {str(name): tuple(columns) for name, columns in saved["fields"].items()}
            leftovers = tuple(saved["leftovers"])
            joined = {str(name): tuple(own) for name, own in saved.get("joined", {}).items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            raise ConfigError(
                f"{path} is not a saved column map; make one with map_columns"
            ) from None
        columns = cls.of(
            fields, leftovers, saved.get("confidence", {}), saved.get("uncertain", {}), joined
        )
        more = {name: saved[name] for name in _MORE if name in saved}
        if "ignored" in more:
            more["ignored"] = tuple(map(str, more["ignored"]))
        return replace(columns, **more)

    @classmethod
    def of(
        cls,
        fields: Mapping[str, Sequence[str]],
        leftovers: Sequence[str] = (),
        confidence: Mapping[str, float] | None = None,
        uncertain: Mapping[str, str] | None = None,
        joined: Mapping[str, Sequence[str]] | None = None,
    ) -> ColumnMap:
        """A map from columns by field.

        Args:
            fields: Field to its columns, in the order they are joined.
            leftovers: Columns of no field.
            confidence: Field to how sure it is, 0 to 1.
            uncertain: Field to why it is not sure.
            joined: Field to columns that make it together.

        Raises:
            ConfigError: A field is unknown, or has more columns than it may.
        """
        check_fields(fields)
        # `check_fields` has refused a second one.
        single = {name: next(iter(fields.get(name, ())), None) for name in SINGLE}
        several = {name: tuple(fields.get(name, ())) for name in SEVERAL}
        return cls(
            **several,  # type: ignore[arg-type]  # the two tables above name the fields
            **single,  # type: ignore[arg-type]
            leftovers=tuple(leftovers),
            confidence=dict(confidence or {}),
            uncertain=dict(uncertain or {}),
            joined={name: tuple(columns) for name, columns in (joined or {}).items()},
        )


def check_fields(fields: Mapping[str, Sequence[str]]) -> None:
    """Refuse fields that a lead does not have, and several columns for one that has one.

    Raises:
        ConfigError: As above.
    """
    for name, columns in fields.items():
        if name not in FIELDS:
            raise ConfigError(f"a lead has no field {name!r}; it has: {', '.join(FIELDS)}")
        # Two e-mail columns joined would be an address of nobody.
        if name in SINGLE and len(columns) > 1:
            raise ConfigError(f"{name} is given by one column, not {len(columns)}; choose one")
