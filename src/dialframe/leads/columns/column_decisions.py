"""Finding the columns of a lead's fields."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Final

from dialframe import opt_outs
from dialframe.errors import LeadFileError
from dialframe.leads.columns.column_map import (
    FIELDS,
    SINGLE,
    Candidate,
    ColumnMap,
    Columns,
    MappingDecision,
    Question,
    check_fields,
    shorten,
)
from dialframe.leads.columns.column_scores import (
    CONTENT_WEIGHT,
    HEADER_WEIGHT,
    Claim,
    Evidence,
    assign,
    cells_of,
    claim_columns,
    examine,
    untangle,
)
from dialframe.leads.columns.header_match import is_not_phone, phone_rank
from dialframe.leads.columns.list_region import given_region
from dialframe.leads.columns.split_phones import JOINED, find_joined, joined_name
from dialframe.leads.lead_file import LeadFile
from dialframe.opt_outs import plain
from dialframe.phones.vectorized import are_valid
from dialframe.profiles import Column, Profile, recognize

_STRANGE_SHARE: Final = 0.5


def close_seconds(mapped: ColumnMap, claims: Sequence[Claim]) -> tuple[Question, ...]:
    """Fields for which another column fits nearly as well."""
    return tuple(
        Question(
            name,
            tuple(
                Candidate(claim.column, claim.score)
                for claim in claims
                if claim.field == name and claim.column in (*mapped.fields()[name], rival)
            ),
            f"{mapped.fields()[name][0]} was taken for {name}, and {rival} fits nearly as well",
            required=False,
        )
        for name, rival in mapped.uncertain.items()
    )


def strange_words(lead_file: LeadFile, mapped: ColumnMap) -> tuple[Question, ...]:
    """Opt-out and consent columns whose cells are mostly no answer, so that nobody would be called."""
    # An unknown word in such a column forbids the call, so a column of other words would hold everybody.
    questions = []
    for name in ("opt_out", "consent"):
        for column in getattr(mapped, name):
            read = partial(opt_outs.read_flag, flag_named(column, name))
            # Spread over the file: a list may begin with the records of one source.
            answers = [read(cell) for cell in dict.fromkeys(cells_of(lead_file.table[column]))]
            filled = [answer for answer in answers if answer != "blank"]
            if filled and filled.count("unclear") > _STRANGE_SHARE * len(filled):
                why = (
                    f"{column} was taken for {name}, and most of its words are neither yes nor no; "
                    "whoever has one of those is not called"
                )
                candidate = Candidate(column, mapped.confidence.get(name, 1.0))
                questions.append(Question(name, (candidate,), why, required=False))
    return tuple(questions)


#: How much a second candidate must stay behind the first.
_LEAD: Final = 0.15
_CONTENT_ONLY: Final = 0.8
_CONTENT_ONLY_FILLED: Final = 0.3
_CONTENT_ONLY_TRUST: Final = 0.75


def map_columns(
    lead_file: LeadFile,
    *,
    region: str | None = None,
    mapping: ColumnMap | Mapping[str, Columns] | None = None,
) -> ColumnMap:
    """Find the columns of the lead's fields by their headers and by what is in their cells.

    Headers count 0.6 and cells 0.4; a column is taken from 0.6 on. Without a telling header a
    column is a phone only if four fifths of its cells are valid numbers and no other column comes
    near. A number that is split over columns is put together (`ColumnMap.joined`).

    Args:
        lead_file: The file.
        region: Region of national numbers, for judging phone columns; None to take the one that
            the list beyond doubt is of.
        mapping: A saved map, or field to column (several for `phone`, `opt_out`, `consent` and
            `fax`; None to leave a field out; `Area Code + Phone` for a number that is split). A
            saved map is taken whole; of a mapping, fields that it does not name are found.

    Returns:
        The map, with the confidence of each column and what is not sure.

    Raises:
        LeadFileError: The file has no phone column, two that cannot be told apart, or not the
            columns that the mapping names.
        ConfigError: The mapping names an unknown field.

    Example:
        columns = dialframe.leads.map_columns(dialframe.leads.read("autumn.csv"), region="US")
    """
    return decide(lead_file, region=region, mapping=mapping).settled()


def with_region(lead_file: LeadFile, columns: ColumnMap, region: str | None) -> ColumnMap:
    """The same columns, as sure as they are now that the region of their numbers is known."""
    scored = decide(lead_file, region=region).columns
    if scored is None:
        return columns
    scored_fields = scored.fields()
    confidence = {
        # What somebody told stays certain.
        name: scored.confidence.get(name, sure)
        if sure < 1 and scored_fields.get(name) == columns.fields()[name]
        else sure
        for name, sure in columns.confidence.items()
    }
    return replace(columns, confidence=confidence)


def decide(
    lead_file: LeadFile,
    *,
    region: str | None = None,
    mapping: ColumnMap | Mapping[str, Columns] | None = None,
) -> MappingDecision:
    """The columns of the lead's fields as `map_columns` finds them, with what is not sure.

    Args:
        lead_file: The file.
        region: Region of national numbers, or None.
        mapping: As for `map_columns`.

    Returns:
        The map and its open questions.

    Raises:
        LeadFileError: The mapping names a column that the file does not have.
        ConfigError: The mapping names an unknown field.

    Example:
        decision = dialframe.leads.decide(dialframe.leads.read("autumn.csv"), region="US")
    """
    # What a person said is not weighed against anything.
    answered, joined = _decided_columns(lead_file, mapping)
    region = given_region(region)
    profile = None if isinstance(mapping, ColumnMap) else profile_of(lead_file)
    known = {} if profile is None else _roles(lead_file, profile)
    columns = lead_file.names
    used = {
        part for names in answered.values() for name in names for part in joined.get(name, (name,))
    }
    evidence = {
        column: examine(cells_of(lead_file.table[column]), region)
        for column in columns
        # A saved map answers for every field, and then no column has to be looked into.
        if column not in used
        and len(answered) < len(FIELDS)
        and not (column in known and known[column].role in _SILENT_ROLES)
    }
    claims = [
        *_profile_claims(columns, known, answered, used),
        *claim_columns(lead_file, evidence, answered),
    ]
    chosen = assign(claims) | {
        name: [Claim(1.0, name, column, 0) for column in answered[name]] for name in answered
    }
    # After the choice: what `Name` means depends on which other names were found.
    chosen = untangle(chosen, evidence, answered)
    if known and "phone" not in answered:
        order = {column: at for at, column in enumerate(known)}
        chosen["phone"] = sorted(
            chosen.get("phone", []), key=lambda claim: order.get(claim.column, len(order))
        )
    if "phone" not in answered and not any(role.role == "phone" for role in known.values()):
        chosen, joined = _join(lead_file, region, chosen, evidence)
    if not chosen.get("phone"):
        claim = _phone_by_content(lead_file, evidence, chosen)
        if isinstance(claim, Question):
            return MappingDecision(lead_file.name, lead_file.path, None, (claim,))
        chosen["phone"] = [claim]
    if "country" not in chosen and lead_file.header is None:
        chosen |= _code_before(lead_file, columns, chosen["phone"][0].column)
    # Behind a header, a column of mails that does not say so may be those of somebody else.
    if "email" not in chosen and lead_file.header is None:
        taken = {claim.column for claims in chosen.values() for claim in claims}
        mails = (
            Claim(round(seen.email * _CONTENT_ONLY_TRUST, 4), "email", column, index)
            for index, (column, seen) in enumerate(evidence.items())
            if column not in taken and seen.email >= _CONTENT_ONLY
        )
        chosen["email"] = list(islice(mails, 1))
    mapped = _column_map(columns, chosen, claims, joined)
    if isinstance(mapping, ColumnMap):
        more = ("profile", "ignored", "statuses", "labels", "answers")
        mapped = replace(mapped, **{name: getattr(mapping, name) for name in more})
    elif profile is not None:
        mapped = _with_profile(mapped, profile, known)
    return MappingDecision(
        lead_file.name,
        lead_file.path,
        mapped,
        close_seconds(mapped, claims) + strange_words(lead_file, mapped),
    )


def flag_named(column: str, field: str) -> opt_outs.Flag:
    """How the cells of a flag column are read: by its name, or as the field that somebody said it is."""
    flag = opt_outs.flag_of(column)
    kinds = ("permits", "call") if field == "consent" else ()
    if flag is not None and flag.sure and (flag.kind in ("permits", "call")) == bool(kinds):
        return flag
    return opt_outs.Flag("permits" if field == "consent" else "forbids")


# ---- profiles

#: Roles of a profile that are fields of a lead; a calling code is the country of its row.
_FIELD_OF_ROLE: Final = {name: name for name in FIELDS} | {"calling_code": "country"}
#: Roles whose columns are no field and hold no words about calls.
_SILENT_ROLES: Final = ("ignore", "phone_of_another", "phone_label", "calling_code")
#: What codes of a status say, as reason codes.
_STATUS_CODES: Final = {
    "do_not_call": "opt_out",
    "deceased": "deceased",
    "wrong_number": "wrong_number",
}


def profile_of(lead_file: LeadFile) -> Profile | None:
    """The known export that a file is, by its header or by the shape of its rows."""
    header = None if lead_file.header is None else lead_file.names
    first = lead_file.table.slice(0, 0 if header else _SHAPE_ROWS)
    rows = [
        list(row) for row in zip(*(column.to_pylist() for column in first.columns), strict=True)
    ]
    return recognize(header, rows, "leads")


_SHAPE_ROWS: Final = 100


def _roles(lead_file: LeadFile, profile: Profile) -> dict[str, Column]:
    """What each column of the file is by its profile, in the order of the profile."""
    columns = lead_file.names
    if lead_file.header is not None:
        matched = profile.matched(columns)
        order = [
            name
            for role in dict.fromkeys(c.role for c in matched.values())
            for name in profile.headers(role, columns)
        ]
        return {name: matched[name] for name in order}
    names = profile.names[: len(columns)]
    by_name = dict(zip(names, columns, strict=False))
    return {
        by_name[name]: replace(
            column, code=by_name.get(column.code or ""), label=by_name.get(column.label or "")
        )
        for name, column in profile.matched(names).items()
    }


def _profile_claims(
    columns: Sequence[str],
    known: Mapping[str, Column],
    answered: Mapping[str, tuple[str, ...]],
    used: Collection[str],
) -> list[Claim]:
    fields = ((column, _FIELD_OF_ROLE.get(role.role)) for column, role in known.items())
    return [
        Claim(1.0, field, column, columns.index(column))
        for column, field in fields
        if field is not None and field not in answered and column not in used
    ]


def _with_profile(mapped: ColumnMap, profile: Profile, known: Mapping[str, Column]) -> ColumnMap:
    """The map with what only the profile knows: codes, labels, columns that say nothing."""
    return replace(
        mapped,
        profile=profile.title,
        ignored=tuple(
            name
            for name in mapped.leftovers
            if name in known and known[name].role in _SILENT_ROLES
        ),
        statuses={
            name: {
                value.strip().casefold(): _STATUS_CODES[says]
                for value, says in role.values.items()
                if says in _STATUS_CODES
            }
            for name, role in known.items()
            if role.role == "status" and role.values
        },
        labels={
            name: role.label for name, role in known.items() if role.role == "phone" and role.label
        },
    )


_CODE_ROWS: Final = 200
_CALLING_CODE: Final = re.compile(r"[1-9]\d{0,2}")
_CODE_SHARE: Final = 0.9


def _code_before(
    lead_file: LeadFile, columns: Sequence[str], phone: str
) -> dict[str, list[Claim]]:
    """The column of calling codes right before the number, in a file without a header."""
    at = columns.index(phone) if phone in columns else 0
    if not at:
        return {}
    head = lead_file.table.slice(0, _CODE_ROWS)
    pairs = [
        (before.strip(), number.strip())
        for before, number in zip(
            head[columns[at - 1]].to_pylist(), head[phone].to_pylist(), strict=True
        )
    ]
    least = _CODE_SHARE * len(pairs)
    codes = sum(_CALLING_CODE.fullmatch(before) is not None for before, _ in pairs)
    if not pairs or codes < least:
        return {}
    texts = [f"+{before}{number}" for before, number in pairs]
    if sum(are_valid(texts, [None] * len(texts))) < least:
        return {}
    return {"country": [Claim(_CONTENT_ONLY_TRUST, "country", columns[at - 1], at - 1)]}


def _decided_columns(
    lead_file: LeadFile, mapping: ColumnMap | Mapping[str, Columns] | None
) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """Columns of the fields that the caller decided, by their names in the frame; joined ones."""
    # A saved map is whole: a field that it leaves empty is to stay empty.
    if isinstance(mapping, ColumnMap):
        given = {name: mapping.fields().get(name, ()) for name in FIELDS}
        parts = dict(mapping.joined)
    else:
        given = {
            name: (columns,) if isinstance(columns, str) else tuple(columns or ())
            for name, columns in (mapping or {}).items()
        }
        parts = {}
    check_fields(given)
    # Nothing can be called without one, so nobody means this.
    if "phone" in given and not given["phone"]:
        raise LeadFileError(_no_phone(lead_file, ()).why, path=lead_file.path)
    joined: dict[str, tuple[str, ...]] = {}
    answered = {
        name: tuple(
            _phone_column(lead_file, column, parts, joined)
            if name == "phone"
            else _column(lead_file, column)
            for column in columns
        )
        for name, columns in given.items()
    }
    return answered, joined


def _phone_column(
    lead_file: LeadFile,
    wanted: str,
    parts: Mapping[str, tuple[str, ...]],
    joined: dict[str, tuple[str, ...]],
) -> str:
    """A phone column of the file, or the name of one that is put together; noted in `joined`."""
    pieces = parts.get(wanted) or tuple(piece.strip() for piece in wanted.split(JOINED.strip()))
    # A column may be called `Area + Phone` itself.
    if wanted in lead_file.names or len(pieces) < 2:
        return _column(lead_file, wanted)
    columns = tuple(_column(lead_file, piece) for piece in pieces)
    joined[joined_name(columns)] = columns
    return joined_name(columns)


def _column(lead_file: LeadFile, wanted: str) -> str:
    columns = lead_file.names
    if wanted in columns:
        return wanted
    # `phone number` for `Phone_Number`: but only where one column can be meant.
    alike = [column for column in columns if plain(column) and plain(column) == plain(wanted)]
    if len(alike) == 1:
        return alike[0]
    raise LeadFileError(
        f"{lead_file.name} has no column {wanted!r}; it has: {shorten(columns)}",
        path=lead_file.path,
    )


def _join(
    lead_file: LeadFile,
    region: str | None,
    chosen: dict[str, list[Claim]],
    evidence: Mapping[str, Evidence],
) -> tuple[dict[str, list[Claim]], dict[str, tuple[str, ...]]]:
    """Put numbers together that are split over columns; their parts are no phones any more."""
    others = {
        claim.column for name, claims in chosen.items() if name != "phone" for claim in claims
    }
    country = chosen.get("country")
    groups = find_joined(
        lead_file,
        [column for column in evidence if column not in others],
        region,
        country[0].column if country else None,
    )
    if not groups:
        return chosen, {}
    parts = {part for group, _ in groups for part in group}
    # `555-0142` alone is a valid number in some other town: a part is never dialed by itself.
    phones = [claim for claim in chosen.get("phone", []) if claim.column not in parts]
    places = {column: index for index, column in enumerate(evidence)}
    ranks = {claim.column: phone_rank(claim.column) for claim in phones}
    for group, share in groups:
        score = HEADER_WEIGHT + CONTENT_WEIGHT * share
        name = joined_name(group)
        phones.append(Claim(round(score, 4), "phone", name, places[group[-1]]))
        # `Area Code` and `Mobile` make a mobile phone.
        ranks[name] = min(phone_rank(part) for part in group)
    phones.sort(key=lambda claim: (ranks[claim.column], claim.place))
    return {**chosen, "phone": phones}, {joined_name(group): group for group, _ in groups}


def _phone_by_content(
    lead_file: LeadFile, evidence: Mapping[str, Evidence], chosen: Mapping[str, list[Claim]]
) -> Claim | Question:
    """The one column that is full of valid phone numbers, whatever it is called, or a question."""
    used = {claim.column for claims in chosen.values() for claim in claims}
    possible = sorted(
        (-seen.phone, index, column)
        for index, (column, seen) in enumerate(evidence.items())
        # Ids that count up are valid numbers of many plans.
        if column not in used and seen.phone and not seen.counting and not is_not_phone(column)
    )
    likely = [
        each
        for each in possible
        if -each[0] >= _CONTENT_ONLY and evidence[each[2]].filled >= _CONTENT_ONLY_FILLED
    ]
    candidates = tuple(
        Candidate(column, round(-share * _CONTENT_ONLY_TRUST, 2)) for share, _, column in possible
    )
    if not likely:
        by_phones = sorted(evidence, key=lambda column: -evidence[column].phone)
        return _no_phone(lead_file, candidates, by_phones)
    # Shares stand there negative, so that the fullest comes first.
    if len(likely) > 1 and likely[1][0] - likely[0][0] < _LEAD:
        names = " and ".join(column for _, _, column in likely[:2])
        why = (
            f"{lead_file.name}: {names} both look like phone columns and one may be a fax; say "
            f"which it is, as in --column phone={likely[0][2]!r}"
        )
        return Question("phone", candidates, why, required=True)
    share, index, column = likely[0]
    return Claim(round(-share * _CONTENT_ONLY_TRUST, 4), "phone", column, index)


def _no_phone(
    lead_file: LeadFile, candidates: tuple[Candidate, ...], by_phones: Sequence[str] = ()
) -> Question:
    columns = lead_file.names
    likeliest = [f"{candidate.column} ({candidate.confidence:.2f})" for candidate in candidates]
    hint = f"the likeliest: {shorten(likeliest)}; " if likeliest else ""
    why = (
        f"{lead_file.name} has no column that is known as a phone; say which it is with "
        f"--column phone=NAME; {hint}its columns are: {shorten(columns)}"
    )
    if len(columns) == 1 and not candidates:
        # A README or a script is read as one column, which nobody could name.
        why = (
            f"{lead_file.name} looks like text, not a table: it has one column and no phone numbers; "
            "name a list, or the column with --column phone=NAME"
        )
    # A person may know what the file does not say; numbers that count up may be ids, and come first all the same.
    every = candidates or tuple(Candidate(column, 0.0) for column in by_phones or columns)
    return Question("phone", every, why, required=True)


def _column_map(
    columns: list[str],
    chosen: Mapping[str, list[Claim]],
    claims: list[Claim],
    joined: Mapping[str, tuple[str, ...]],
) -> ColumnMap:
    used = {
        part
        for name, claimed in chosen.items()
        for claim in claimed
        for part in joined.get(claim.column, (claim.column,))
        if name != "country"  # it is read, and stays the lead's own
    }
    rivals = {
        claim.field: claim.column
        # The best rival comes last, and stays.
        for claim in reversed(claims)
        if claim.field in SINGLE
        and claim.field in chosen
        and claim.column not in used
        and claim.column != chosen[claim.field][0].column
        and chosen[claim.field][0].score - claim.score < _LEAD
    }
    return ColumnMap.of(
        {name: [claim.column for claim in claimed] for name, claimed in chosen.items()},
        leftovers=[column for column in columns if column not in used],
        confidence={
            name: round(min(claim.score for claim in claimed), 2)
            for name, claimed in chosen.items()
            if claimed
        },
        uncertain=rivals,
        joined=joined,
    )
