"""Reads, recognizes and writes source profiles. The comment below shows the file."""

# ruff: noqa: ERA001 - the comment shows a file
# A profile is one TOML file:
#
#     title = "VICIdial lead list"
#     kind = "leads"                          # one of KINDS
#     source = "https://..."                  # where the format is written down
#     zone = "America/New_York"               # of clock times that name none (optional)
#
#     [recognize]
#     header = ["lead_id", "phone_number"]    # all of these columns are there
#     any = ["entry_date", "list_id"]         # and at least one of these
#     absent = ["call_date"]                  # and none of these
#     names = ["area", "number"]              # of a format without a header: its columns in order
#     shape = ['\d{3}', '\d{7}']              # and what their cells look like; shorter than a row is enough
#
#     [columns]
#     phone_number = {role = "phone", code = "phone_code"}
#     "Phone {n} - Value" = {role = "phone", label = "Phone {n} - Label", separator = ":::"}
#     status = {role = "status", values = {DNC = "do_not_call"}}
#     first_name = "first_name"               # a bare text is the role
#
#     [constants]                             # fields that every row has, though no column says it
#     direction = "outbound"
#
#     [settings]                              # anything more that the reader of this kind asks for
#     per_call = true
#
# Headers are compared without capitals, blanks and punctuation; `{n}` stands for a number, and ` | ` parts names of
# which a file has one. Which roles there are
# is the business of the room that reads the kind.

from __future__ import annotations

import hashlib
import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final, Literal, get_args

from dialframe import files
from dialframe.errors import ConfigError

__all__ = ["KINDS", "Column", "Kind", "Profile", "load", "names", "recognize", "save"]

#: What a file of a profile holds.
Kind = Literal[
    "leads",
    "calls",
    "suppression",
    "scrub",
    "line_types",
    "reassigned",
    "consents",
    "relationships",
    "registry",
    "requests",
]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

#: Share of the rows of a file without a header that have the profile's shape; damaged rows are ordinary.
_SHAPED_SHARE: Final = 0.9
_SAMPLE_ROWS: Final = 200
_NUMBERED: Final = "{n}"
_UNTOLD: Final = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """What one column of a format holds.

    Attributes:
        header: Its name in the file; in a profile `{n}` may stand for a number.
        role: What it holds, in the words of the room that reads the kind.
        label: Column that says what kind of value stands here (`Phone 1 - Label`); ` | ` parts alternatives.
        code: Column with the country calling code of this number.
        before: Column whose text stands in front of this one (the area code of a local number).
        prefix: Text in front of each cell that is no part of its value (`p:` of lead ads).
        separator: Text between several values in a cell.
        formats: Forms of dates and times, as `strptime` takes them, tried in order.
        zone: IANA zone of clock times that name none; else the profile's.
        unit: Unit of numbers (`s`, `min`, `hh:mm:ss`).
        values: What a cell says, by its text; `meaning` compares without capitals and blanks around.
        otherwise: What a filled cell says that is not in `values`.
    """

    header: str
    role: str
    label: str | None = None
    code: str | None = None
    before: str | None = None
    prefix: str = ""
    separator: str | None = None
    formats: tuple[str, ...] = ()
    zone: str | None = None
    unit: str | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    otherwise: str | None = None

    def meaning(self, cell: str) -> str | None:
        """What a cell says by `values`; `otherwise` for another text, None for an empty one without a row."""
        text = cell.strip().casefold()
        for value, says in self.values.items():
            if value.strip().casefold() == text:
                return says
        return self.otherwise if text else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A known format.

    Attributes:
        name: Name of its file without the ending.
        title: In words, as a message names it.
        kind: What its rows are.
        source: Where the format is documented.
        header: Columns that a file has to have.
        any: Columns of which it has at least one.
        absent: Columns that it does not have.
        names: Columns in order, of a format without a header.
        shape: Patterns of the cells of such a row, from its first column on.
        columns: Its columns.
        zone: IANA zone of clock times.
        constants: Fields that are the same in every row.
        settings: Whatever else the reader of the kind asks for.
    """

    name: str
    title: str
    kind: Kind
    columns: tuple[Column, ...]
    source: str = ""
    header: tuple[str, ...] = ()
    any: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    shape: tuple[str, ...] = ()
    zone: str | None = None
    constants: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    def matched(self, header: Sequence[str]) -> dict[str, Column]:
        """The columns of a file that the profile knows, by their names in the file and in its order.

        `label`, `code` and `before` are names of columns of the file, or None where it does not have them.

        Example:
            >>> columns = load("google_contacts").matched(["Phone 2 - Label", "Phone 2 - Value"])
            >>> columns["Phone 2 - Value"].label
            'Phone 2 - Label'
        """
        by_key = {_key(name): name for name in reversed(header)}
        known: dict[str, Column] = {}
        for name in header:
            place = self._place(name)
            if place is None:
                continue
            column, number = self.columns[place[0]], place[1]
            beside: dict[str, Any] = {
                part: _first(by_key, wanted.replace(_NUMBERED, number))
                for part in ("label", "code", "before")
                if (wanted := getattr(column, part)) is not None
            }
            known[name] = replace(column, header=name, **beside)
        return known

    def headers(self, role: str, header: Sequence[str]) -> tuple[str, ...]:
        """The columns of a file that have a role, in the order of the profile."""
        places = {name: place for name in header if (place := self._place(name)) is not None}
        having = [name for name, place in places.items() if self.columns[place[0]].role == role]
        return tuple(sorted(having, key=lambda name: places[name][0]))

    def _place(self, name: str) -> tuple[int, str] | None:
        """Which of its columns a header is, and the number of `{n}` in it."""
        for at, column in enumerate(self.columns):
            if match := _pattern(column.header).fullmatch(_key(name)):
                return at, match[1] if match.groups() else ""
        return None

    def fits(self, header: Sequence[str] | None, rows: Sequence[Sequence[str]]) -> bool:
        """Whether a file is of this format, by its header, or by the shape of its rows where it has none."""
        if header is None:
            return self._has_shape(rows)
        keys = [_key(name) for name in header]

        def has(wanted: str) -> bool:
            pattern = _pattern(wanted)
            return any(pattern.fullmatch(key) for key in keys)

        return (
            bool(self.header or self.any)
            and all(map(has, self.header))
            and (not self.any or any(map(has, self.any)))
            and not any(map(has, self.absent))
        )

    def _has_shape(self, rows: Sequence[Sequence[str]]) -> bool:
        if not self.shape or not rows:
            return False
        patterns = [re.compile(text) for text in self.shape]
        sample = [row for row in rows[:_SAMPLE_ROWS] if any(cell.strip() for cell in row)]
        fitting = sum(
            len(patterns) <= len(row) <= max(len(self.names), len(patterns))
            and all(
                pattern.fullmatch(cell.strip())
                for pattern, cell in zip(patterns, row, strict=False)
            )
            for row in sample
        )
        return bool(sample) and fitting >= _SHAPED_SHARE * len(sample)


def _first(by_key: Mapping[str, str], wanted: str) -> str | None:
    """The first of the columns, parted by ` | `, that a file has."""
    keys = map(_key, wanted.split(" | "))
    return next((by_key[key] for key in keys if key in by_key), None)


def recognize(
    header: Sequence[str] | None,
    rows: Sequence[Sequence[str]] = (),
    kind: Kind | None = None,
    *,
    folder: Path | None = None,
) -> Profile | None:
    """The profile of a file, or None where no known format fits.

    Args:
        header: Names of its columns; None for a file without a header.
        rows: Some of its rows, for formats without a header.
        kind: What the file is read as; None: any kind.
        folder: Folder with a person's own profiles; they are asked before those that are shipped.

    Returns:
        Of the profiles that fit, the one that knows most of the columns.

    Raises:
        ConfigError: A profile in the folder cannot be read.
    """
    for profiles in (_of_folder(folder), _shipped_profiles()):
        fitting = [
            profile
            for profile in profiles.values()
            if kind in (None, profile.kind) and profile.fits(header, rows)
        ]
        if fitting:
            return max(
                fitting,
                key=lambda profile: (
                    len(profile.shape)
                    if header is None
                    else len(profile.matched(header)) + len(profile.header)
                ),
            )
    return None


def load(name: str | Path, *, folder: Path | None = None, kind: Kind | None = None) -> Profile:
    """A profile by the name of a shipped one, of one in the folder, or by its path.

    Args:
        name: Its name, or the path of a `.toml` file.
        folder: Folder with a person's own profiles.
        kind: What it is wanted for: where there is none of this name, those for it are named.

    Raises:
        ConfigError: There is none, or its file is not a profile.

    Example:
        >>> load("us_registry").kind
        'registry'
    """
    own = _of_folder(folder)
    if str(name) in own:
        return own[str(name)]
    if str(name) in _shipped_profiles():
        return _shipped_profiles()[str(name)]
    path = Path(name)
    if path.suffix == ".toml" and path.is_file():
        return _read(path.stem, path.read_text(encoding="utf-8"), str(path))
    known = ", ".join(names(kind, folder=folder))
    raise ConfigError(
        f"no profile {str(name)!r}; known: {known}, or give the path of a .toml file"
    )


def names(kind: Kind | None = None, *, folder: Path | None = None) -> tuple[str, ...]:
    """Names of the profiles of a kind, a person's own first."""
    every = {**_of_folder(folder), **_shipped_profiles()}
    return tuple(name for name, profile in every.items() if kind in (None, profile.kind))


def save(profile: Profile, folder: Path) -> Path:
    """Write a profile, readable by its owner alone, so that `recognize` finds it in the folder.

    Args:
        profile: The profile; its name becomes the name of the file.
        folder: The folder; made where it is missing.

    Returns:
        The path of the file.
    """
    return files.write_text(_as_toml(profile), folder / f"{_file_name(profile)}.toml")


def _file_name(profile: Profile) -> str:
    # Two lists may have names that differ in what a file name cannot hold.
    plain = re.sub(r"[^a-z0-9]+", "_", profile.name.casefold()).strip("_")
    if plain == profile.name:
        return plain
    return f"{plain[:40]}_{hashlib.sha256(profile.name.encode()).hexdigest()[:8]}".strip("_")


# ---- reading and writing


def _key(text: str) -> str:
    """A header as it is compared: without capitals, blanks and punctuation."""
    return _UNTOLD.sub("", unicodedata.normalize("NFKC", text).casefold())


@cache
def _pattern(header: str) -> re.Pattern[str]:
    """What headers of files fit a header of a profile; the first group is the number of `{n}`."""
    names = [
        r"(\d*)".join(re.escape(_key(part)) for part in name.split(_NUMBERED))
        for name in header.split(" | ")
    ]
    return re.compile("|".join(names))


@cache
def _shipped_profiles() -> dict[str, Profile]:
    shipped = sorted(
        (file for file in resources.files(__package__).iterdir() if file.name.endswith(".toml")),
        key=lambda file: file.name,
    )
    return {
        (name := file.name.removesuffix(".toml")): _read(
            name, file.read_text(encoding="utf-8"), file.name
        )
        for file in shipped
    }


def _of_folder(folder: Path | None) -> dict[str, Profile]:
    if folder is None or not folder.is_dir():
        return {}
    return {
        path.stem: _read(path.stem, path.read_text(encoding="utf-8"), str(path))
        for path in sorted(folder.glob("*.toml"))
    }


def _read(name: str, text: str, where: str) -> Profile:
    """A profile from its text.

    Raises:
        ConfigError: It is no TOML, or a key of it is unknown, missing or of a wrong type.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{where}: not valid TOML ({error}); correct the text") from error
    kind = table.get("kind")
    if kind not in KINDS:
        raise ConfigError(f"{where}: kind is {kind!r}; one of {', '.join(KINDS)}")
    recognition = _check_table(where, "recognize", table.pop("recognize", {}), _RECOGNITION)
    columns = tuple(
        _column(where, header, row) for header, row in dict(table.pop("columns", {})).items()
    )
    if not columns:
        raise ConfigError(f"{where}: no [columns]; give each column of the format its role")
    _check_table(
        where, "the file", table, {"title", "kind", "source", "zone", "constants", "settings"}
    )
    own: dict[str, Any] = {"title": name, **table, "name": name, "columns": columns}
    own |= {each: tuple(texts) for each, texts in recognition.items()}
    try:
        return Profile(**own)
    except TypeError as error:
        raise ConfigError(f"{where}: {error}; correct the text") from error


_RECOGNITION: Final = {"header", "any", "absent", "names", "shape"}


def _column(where: str, header: str, row: object) -> Column:
    if isinstance(row, str):
        return Column(header=header, role=row)
    known = {each.name for each in fields(Column)} - {"header"}
    table = _check_table(where, f"column {header}", row, known)
    if "role" not in table:
        raise ConfigError(f"{where}: column {header} has no role; say what it holds")
    table["formats"] = tuple(table.get("formats", ()))
    return Column(header=header, **table)


def _check_table(where: str, part: str, table: object, known: Iterable[str]) -> dict[str, Any]:
    """A table whose keys are all known."""
    if not isinstance(table, Mapping):
        raise ConfigError(f"{where}: {part} is not a table; correct the text")
    strange = set(table) - set(known)
    if strange:
        raise ConfigError(
            f"{where}: {part} has the unknown key {min(strange)!r}; known: {', '.join(sorted(known))}"
        )
    return dict(table)


def _as_toml(profile: Profile) -> str:
    lines = [
        f"{each} = {_literal(getattr(profile, each))}"
        for each in ("title", "kind", "source", "zone")
        if getattr(profile, each)
    ]
    lines += ["", "[recognize]"]
    lines += [
        f"{each} = {_literal(getattr(profile, each))}"
        for each in ("header", "any", "absent", "names", "shape")
        if getattr(profile, each)
    ]
    lines += ["", "[columns]"]
    for column in profile.columns:
        row = {
            each.name: value
            for each in fields(Column)
            if each.name != "header" and (value := getattr(column, each.name))
        }
        lines.append(f"{_literal(column.header)} = {_literal(row)}")
    for part in ("constants", "settings"):
        if table := getattr(profile, part):
            lines += ["", f"[{part}]"]
            lines += [f"{_literal(name)} = {_literal(value)}" for name, value in table.items()]
    return "\n".join(lines) + "\n"


def _literal(value: object) -> str:
    """A value as TOML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        pairs = ", ".join(
            f"{_literal(str(key))} = {_literal(each)}" for key, each in value.items()
        )
        return f"{{{pairs}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_literal, value))}]"
    # A basic string: backslash, quote and control characters are escaped (TOML 1.0, String).
    text = "".join(
        f"\\u{ord(char):04x}" if ord(char) < 0x20 or ord(char) == 0x7F else char
        for char in str(value).replace("\\", "\\\\").replace('"', '\\"')
    )
    return f'"{text}"'
