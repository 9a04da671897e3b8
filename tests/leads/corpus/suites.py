"""Suites of made text files after the corpora that readers are measured on; every file is drawn by its number."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from random import Random
from typing import Final

from tests.leads.corpus import values
from tests.leads.corpus.case import SPOILT, Case, Paper

Maker = Callable[[Random, str], Case]

_GENERAL: Final = tuple(values.KINDS)


def draw(suite: str, makers: dict[str, Maker], count: int, every: int = 1) -> Iterator[Case]:
    """`count` files of a suite, its makers in turn, or every so-manieth of them."""
    names = list(makers)
    for at in range(0, count, every):
        name = names[at % len(names)]
        yield makers[name](Random(f"{suite} {name} {at}"), name)


def _table(random: Random, paper: Paper, *, kind: str | None = None, count: int = 0) -> Paper:
    own = kind or random.choice(_GENERAL)
    paper.names(values.names(own))
    for row in values.rows(random, own, count or random.randrange(3, 60)):
        paper.row(row)
    return paper


# ---- survey: exports of offices, laboratories and questionnaires


def _plain(random: Random, name: str) -> Case:
    paper = Paper(end=random.choice(("\n", "\r\n")), always=random.random() < 0.3)
    return _table(random, paper).case("survey", name, random.choice(("utf-8", "utf-8-sig")))


def _latin(random: Random, name: str) -> Case:
    paper = Paper(delimiter=random.choice(",;"), end="\r\n")
    return _table(random, paper, kind=random.choice(("accounts", "translations")), count=20).case(
        "survey", name, "cp1252"
    )


def _matrix(random: Random, name: str) -> Case:
    paper = Paper(delimiter=random.choice((",", ";", "\t")))
    width = random.randrange(2, 12)
    for _ in range(random.randrange(4, 90)):
        paper.row([values.number(random) for _ in range(width)])
    return paper.case("survey", name)


def _titled(random: Random, name: str) -> Case:
    paper = Paper(end="\r\n")
    paper.write(f"{values.word(random).title()} {values.word(random)} for {values.city(random)}")
    if random.random() < 0.5:
        paper.write(f"Published: {values.day(random)}")
    if random.random() < 0.6:
        paper.write("")
    return _table(random, paper).case("survey", name)


def _titled_wide(random: Random, name: str) -> Case:
    paper = Paper()
    kind = random.choice(("spending", "posts", "weather", "products"))
    blank = "," * (len(values.names(kind)) - 1)
    paper.write(f"{values.sentence(random, 4).replace(',', '')}{blank}")
    if random.random() < 0.5:
        paper.write(blank)
    return _table(random, paper, kind=kind, count=25).case("survey", name)


def _noted(random: Random, name: str) -> Case:
    paper = _table(random, Paper(), kind=random.choice(("spending", "posts", "flags")), count=20)
    if random.random() < 0.7:
        paper.write("")
    paper.write(f"Source: the {values.word(random)} office of {values.city(random)}")
    return paper.case("survey", name)


def _trailing(random: Random, name: str) -> Case:
    """A delimiter behind the last cell of every line."""
    paper = Paper(delimiter=random.choice(",;"))
    kind = random.choice(("measurements", "weather", "countries"))
    paper.names((*values.names(kind), ""))
    for row in values.rows(random, kind, 30):
        paper.row((*row, ""))
    return paper.case("survey", name)


def _answers(random: Random, name: str) -> Case:
    paper = Paper(always=random.random() < 0.5, end=random.choice(("\n", "\r\n")))
    return _table(random, paper, kind="answers").case("survey", name)


def _few(random: Random, name: str) -> Case:
    return _table(random, Paper(), count=1).case("survey", name, last_end=False)


def _empty_columns(random: Random, name: str) -> Case:
    """Columns without a name and without a value at the right of the table."""
    paper = Paper()
    kind = random.choice(("spending", "flags", "trees"))
    blank = ("",) * random.randrange(1, 6)
    paper.names((*values.names(kind), *blank))
    for row in values.rows(random, kind, 15):
        paper.row((*row, *blank))
    for _ in range(random.randrange(4)):
        paper.write("," * (len(values.names(kind)) + len(blank) - 1))
    return paper.case("survey", name)


def _results(random: Random, name: str) -> Case:
    """A log of a program: semicolons, few words, no header or one."""
    paper = Paper(delimiter=";")
    if random.random() < 0.5:
        paper.names(("iteration", "time", "best", "gap"))
    for at in range(random.randrange(2, 40)):
        paper.row(
            (
                str(at),
                f"{random.uniform(0, 9):.4f}",
                values.whole(random),
                f"{random.random():.3e}",
            )
        )
    return paper.case("survey", name)


SURVEY: Final[dict[str, Maker]] = {
    "plain": _plain, "legacy code page": _latin, "matrix of numbers": _matrix, "title": _titled,
    "title in a wide row": _titled_wide, "note below": _noted, "trailing delimiter": _trailing,
    "answers": _answers, "one record": _few, "empty columns": _empty_columns, "results": _results,
}  # fmt: skip


# ---- wrangling: files that people put into repositories


def _any_delimiter(random: Random, name: str) -> Case:
    delimiter = random.choice(("\t", ";", "|", ",", "^", "~", "#", ":", "¬", "\x01"))
    kind = random.choice(
        ("spending", "countries", "flags", "posts") if delimiter in ":#~^" else _GENERAL
    )
    kind = "flags" if delimiter in (":", "#") else kind
    return (
        _table(random, Paper(delimiter=delimiter, end=random.choice(("\n", "\r\n")))).case(
            "wrangling", name
        )
        if delimiter in "\t;|,"
        else _table(random, Paper(delimiter=delimiter), kind=kind, count=20).case(
            "wrangling", name
        )
    )


def _spaces(random: Random, name: str) -> Case:
    paper = Paper(delimiter=" ")
    width = random.randrange(2, 7)
    if random.random() < 0.5:
        paper.names([f"x{at}" for at in range(width)])
    for _ in range(random.randrange(3, 40)):
        paper.row([values.number(random) for _ in range(width)])
    return paper.case("wrangling", name)


def _space_words(random: Random, name: str) -> Case:
    """Spaces between words and numbers, with quotes where a cell has one itself."""
    paper = Paper(delimiter=" ")
    paper.names(("carat", "cut", "color", "price"))
    for _ in range(random.randrange(5, 40)):
        cut = random.choice(("Ideal", "Premium", "Very Good", "Good"))
        paper.row((f"{random.random():.2f}", cut, random.choice("DEFG"), values.whole(random)))
    return paper.case("wrangling", name)


def _one_column(random: Random, name: str) -> Case:
    paper = Paper(quote=None)
    fill = random.choice(
        (
            values.whole,
            values.number,
            values.word,
            values.url,
            values.day,
            values.code,
            values.mail,
            values.instant,
            values.ip,
            values.path,
            values.clock,
        )
    )
    headed = random.random() < 0.4
    if headed:
        paper.names((values.word(random),))
    for _ in range(random.randrange(4, 40)):
        paper.row((fill(random),))
    return paper.case("wrangling", name)


def _one_column_prose(random: Random, name: str) -> Case:
    paper = Paper(delimiter="\x00", quote=None)
    paper.names(("comment",))
    for _ in range(random.randrange(6, 30)):
        paper.row((values.sentence(random),))
    return paper.case("wrangling", name)


def _no_quotes(random: Random, name: str) -> Case:
    """A quotation mark is a character like any other."""
    paper = Paper(delimiter=random.choice(("\t", "|", ";")), quote=None)
    paper.names(("id", "title", "size"))
    for _ in range(random.randrange(5, 40)):
        title = random.choice(
            (
                f'{values.word(random)} 7"',
                f'the "{values.word(random)}" show',
                values.word(random),
                f'"{values.word(random)}" {values.word(random)}',
            )
        )
        paper.row((values.whole(random), title, values.number(random)))
    return paper.case("wrangling", name)


def _escapes(random: Random, name: str) -> Case:
    paper = Paper(delimiter=random.choice(",;"), always=random.random() < 0.7, escape="\\")
    paper.names(("id", "quote", "who"))
    for at in range(random.randrange(5, 40)):
        text = f'he said "{values.word(random)}", and left' if at % 2 else values.sentence(random)
        paper.row((values.whole(random), text, values.person(random)))
    return paper.case("wrangling", name)


def _apostrophes(random: Random, name: str) -> Case:
    paper = Paper(delimiter=random.choice(",;|"), quote="'", always=random.random() < 0.7)
    return _table(
        random, paper, kind=random.choice(("spending", "products", "translations")), count=25
    ).case("wrangling", name)


def _spaced(random: Random, name: str) -> Case:
    paper = Paper(delimiter=", ")
    kind = random.choice(("measurements", "countries", "spending", "files", "flags"))
    return _table(random, paper, kind=kind, count=25).case("wrangling", name)


def _two_columns(random: Random, name: str) -> Case:
    paper = Paper(always=random.random() < 0.6)
    headed = random.random() < 0.3
    if headed:
        paper.names(("source", "target"))
    for _ in range(random.randrange(4, 40)):
        paper.row((values.sentence(random, 7), values.sentence(random, 5)))
    return paper.case("wrangling", name)


def _code_cells(random: Random, name: str) -> Case:
    paper = Paper(delimiter=random.choice(",;"))
    kind = random.choice(("pages", "settings", "shapes", "tweets"))
    return _table(random, paper, kind=kind).case("wrangling", name)


def _headless(random: Random, name: str) -> Case:
    paper = Paper(delimiter=random.choice((",", ";", "\t")))
    kind = random.choice(("visits", "files", "spending", "countries", "trees", "flags"))
    for row in values.rows(random, kind, random.randrange(3, 40)):
        paper.row(row)
    return paper.case("wrangling", name)


def _ragged(random: Random, name: str) -> Case:
    """Rows that end early, because their last cells are empty."""
    paper = Paper()
    paper.names(("id", "name", "score", "remark", "extra"))
    for _ in range(random.randrange(8, 40)):
        row = (
            values.whole(random),
            values.person(random),
            values.number(random),
            values.word(random),
            values.word(random),
        )
        cut = random.choice((5, 5, 5, 4, 3))
        paper.row(row[:cut])
    return paper.case("wrangling", name)


def _utf16(random: Random, name: str) -> Case:
    paper = Paper(delimiter=random.choice((",", "\t", ";")), end="\r\n")
    return _table(random, paper, count=15).case(
        "wrangling", name, random.choice(("utf-16", "utf-16-le", "utf-16-be"))
    )


def _cyrillic(random: Random, name: str) -> Case:
    paper = Paper(delimiter=";", end="\r\n")
    paper.names(("Имя", "Город", "Сумма"))
    for _ in range(random.randrange(5, 30)):
        paper.row(
            (
                random.choice(("Анна", "Борис", "Вера", "Глеб", "Дарья")),
                random.choice(("Москва", "Казань", "Омск", "Пермь")),
                values.whole(random),
            )
        )
    return paper.case("wrangling", name, "cp1251")


def _decimal_commas(random: Random, name: str) -> Case:
    paper = Paper(delimiter=";")
    paper.names(("Monat", "Menge", "Preis", "Quote"))
    for at in range(random.randrange(4, 40)):
        paper.row((f"{at + 1}", *(values.number(random).replace(".", ",") for _ in range(3))))
    return paper.case("wrangling", name)


WRANGLING: Final[dict[str, Maker]] = {
    "any delimiter": _any_delimiter, "spaces": _spaces, "spaces and words": _space_words,
    "one column": _one_column, "one column of prose": _one_column_prose, "no quotes": _no_quotes,
    "escapes": _escapes, "apostrophes": _apostrophes, "comma and blank": _spaced,
    "two columns of prose": _two_columns, "code in cells": _code_cells, "no header": _headless,
    "ragged": _ragged, "utf-16": _utf16, "cyrillic": _cyrillic, "decimal commas": _decimal_commas,
}  # fmt: skip


# ---- miscellaneous: one table, polluted in one way, and curiosities


def _shop(
    random: Random,
    paper: Paper,
    count: int = 25,
    spoil: Callable[[int, tuple[str, ...]], str | None] | None = None,
) -> Paper:
    paper.names(
        (
            "DATE",
            "TIME",
            "Qty",
            "PRODUCTID",
            "Price",
            "ProductType",
            "ProductDescription",
            "URL",
            "Comments",
        )
    )
    for at in range(count):
        row = (
            values.day(random),
            values.clock(random)[:5],
            str(random.randrange(20)),
            values.code(random),
            f"${random.randrange(90)}.50",
            f"{random.choice(values.GIVEN)}'s {values.word(random)}, 10\"",
            values.sentence(random),
            values.url(random),
            "",
        )
        text = spoil(at, row) if spoil else None
        if text is None:
            paper.row(row)
        else:
            paper.damaged(text, row)
    return paper


def _shop_dialects(random: Random, name: str) -> Case:
    paper = random.choice((
        Paper(), Paper(always=True), Paper(delimiter=";"), Paper(delimiter="\t"), Paper(delimiter=", "),
        Paper(quote="'"), Paper(escape="\\"), Paper(end="\r"), Paper(end="\r\n"), Paper(delimiter=" ", always=True),
    ))  # fmt: skip
    return _shop(random, paper).case("misc", name, last_end=random.random() < 0.7)


def _double_end(random: Random, name: str) -> Case:
    paper = _shop(random, Paper())
    paper.write("")
    return paper.case("misc", name)


def _header_only(random: Random, name: str) -> Case:
    paper = Paper(delimiter=random.choice(",;\t|"))
    paper.names(values.names(random.choice(("spending", "answers", "posts", "products"))))
    return paper.case("misc", name)


def _no_shop_header(random: Random, name: str) -> Case:
    paper = _shop(random, Paper())
    return Case(
        "misc",
        name,
        "table.csv",
        "".join(paper.pieces[1:]).encode(),
        None,
        tuple(paper.records),
        tuple(at - 1 for at in paper.lines),
    )


def _more_cells(random: Random, name: str) -> Case:
    """One row has a delimiter too many: no cell of it is lost."""
    target = random.randrange(25)
    paper = Paper()
    paper = _shop(
        random,
        paper,
        spoil=lambda at, row: (
            None if at != target else paper.delimiter.join(map(paper.cell, row)) + ",x"
        ),
    )
    paper.records[target] = SPOILT
    return paper.case("misc", name)


def _fewer_cells(random: Random, name: str) -> Case:
    """One row has too few cells."""
    paper = Paper()
    target = random.randrange(25)
    paper = _shop(
        random,
        paper,
        spoil=lambda at, row: None if at != target else ",".join(map(paper.cell, row[:6])),
    )
    paper.records[target] = paper.records[target][:6]
    return paper.case("misc", name)


def _lines_in_cells(random: Random, name: str) -> Case:
    paper = Paper(delimiter=random.choice(",;"), end=random.choice(("\n", "\r\n")))
    paper.names(("id", "text", "by"))
    for at in range(random.randrange(4, 20)):
        text = (
            "\n".join(values.sentence(random) for _ in range(random.randrange(1, 6)))
            if at % 2
            else values.sentence(random)
        )
        paper.row((values.code(random), text, values.person(random)))
    return paper.case("misc", name)


def _table_in_cell(random: Random, name: str) -> Case:
    """A whole table of another kind stands inside one quoted cell."""
    paper = Paper()
    paper.names(("id", "attachment", "by"))
    where = random.choice((0, 1, -1))
    count = random.randrange(3, 9)
    for at in range(count):
        inner = (
            "\n".join(random.choice(";|").join(row) for row in values.rows(random, "flags", 5))
            if at == where % count
            else values.word(random)
        )
        paper.row((values.whole(random), inner, values.person(random)))
    return paper.case("misc", name)


def _pipes_in_cells(random: Random, name: str) -> Case:
    """Another delimiter is more frequent than the true one."""
    delimiter = random.choice(",;")
    paper = Paper(delimiter=delimiter, end="\r\n")
    paper.names(("id", "tags", "when"))
    for _ in range(random.randrange(4, 25)):
        paper.row(
            (
                values.whole(random),
                "|".join(values.word(random) for _ in range(random.randrange(2, 7))),
                values.day(random),
            )
        )
    return paper.case("misc", name)


def _commas_in_cells(random: Random, name: str) -> Case:
    paper = Paper(delimiter=";", quote=None)
    paper.names(("id", "list", "amount"))
    for _ in range(random.randrange(4, 25)):
        paper.row(
            (
                values.whole(random),
                ", ".join(values.word(random) for _ in range(random.randrange(2, 5))),
                values.number(random).replace(".", ","),
            )
        )
    return paper.case("misc", name)


def _tilde_quotes(random: Random, name: str) -> Case:
    paper = Paper(delimiter=random.choice(",;|"), quote="~", always=True)
    paper.names(("CMTE_ID", "NAME", "CITY", "AMOUNT"))
    for _ in range(random.randrange(4, 25)):
        paper.row(
            (
                values.code(random),
                f"{random.choice(values.FAMILY)}, {random.choice(values.GIVEN)}",
                values.city(random),
                values.whole(random),
            )
        )
    return paper.case("misc", name)


def _long_delimiter(random: Random, name: str) -> Case:
    paper = Paper(
        delimiter=random.choice(("||", "::", "~|~", "|~|", ";;", "^^", "<>", " | ")), quote=None
    )
    kind = random.choice(("spending", "posts", "accounts", "countries"))
    return _table(random, paper, kind=kind, count=25).case("misc", name)


def _comments(random: Random, name: str) -> Case:
    paper = Paper()
    for _ in range(random.randrange(1, 4)):
        paper.write(f"# {values.sentence(random, 6)}")
    return _table(random, paper, count=15).case("misc", name)


def _sep_line(random: Random, name: str) -> Case:
    paper = Paper(delimiter=random.choice(";|,\t"), end="\r\n")
    paper.write(f"sep={paper.delimiter}")
    return _table(random, paper, count=15).case("misc", name, "utf-8-sig")


def _fixed_width(random: Random, name: str) -> Case:
    widths = (10, 16, 12, 8)
    paper = Paper(delimiter=" ", quote=None)
    header = ("ID", "NAME", "CITY", "TOTAL")
    paper.names(header)
    paper.pieces[-1] = "".join(map(str.ljust, header, widths)).rstrip() + "\n"
    for _ in range(random.randrange(8, 30)):
        row = (
            values.code(random),
            values.person(random),
            values.city(random),
            values.whole(random),
        )
        paper.damaged("".join(map(str.ljust, row, widths)).rstrip(), row)
    return paper.case("misc", name)


def _starred(random: Random, name: str) -> Case:
    paper = Paper()
    paper.names(("*name", "*rating", "notes"))
    for _ in range(random.randrange(4, 20)):
        paper.row((values.person(random), "*" * random.randrange(1, 6), values.sentence(random)))
    return paper.case("misc", name)


MISC: Final[dict[str, Maker]] = {
    "dialects of a shop": _shop_dialects, "double line end": _double_end, "header only": _header_only,
    "no header": _no_shop_header, "a cell too many": _more_cells, "cells too few": _fewer_cells,
    "lines in cells": _lines_in_cells, "a table in a cell": _table_in_cell, "pipes in cells": _pipes_in_cells,
    "commas in cells": _commas_in_cells, "tilde quotes": _tilde_quotes, "long delimiter": _long_delimiter,
    "comments": _comments, "sep line": _sep_line, "fixed width": _fixed_width, "stars": _starred,
}  # fmt: skip


# ---- w3c: small, mostly clean tables of the web


def _small(random: Random, name: str) -> Case:
    paper = Paper(end=random.choice(("\n", "\n", "\r\n")))
    return _table(random, paper, count=random.randrange(1, 6)).case(
        "w3c", name, last_end=random.random() < 0.8
    )


def _tiny(random: Random, name: str) -> Case:
    """Two or three columns of short words and one or two rows."""
    paper = Paper()
    paper.names(
        random.choice(
            (
                ("A", "B", "C"),
                ("surname", "givenname"),
                ("integer", "decimal", "double"),
                ("id", "type"),
                ("GID", "On Street", "Species"),
            )
        )
    )
    fills = {"integer": "10", "decimal": "10.10", "double": "10.10e10"}
    for _ in range(random.randrange(1, 4)):
        paper.row([fills.get(one, values.word(random)) for one in paper.header or ()])
    return paper.case("w3c", name)


def _typed(random: Random, name: str) -> Case:
    paper = Paper()
    paper.names(("date", "time", "number", "boolean", "duration"))
    for _ in range(random.randrange(1, 5)):
        paper.row(
            (
                values.day(random),
                values.clock(random),
                values.number(random),
                random.choice(("Y", "N")),
                f"P{random.randrange(9)}Y{random.randrange(9)}M",
            )
        )
    return paper.case("w3c", name)


def _one_cell(random: Random, name: str) -> Case:
    paper = Paper(quote=None)
    paper.names((random.choice(("datetime", "formatted", "value", "unicode")),))
    fill = random.choice((values.day, values.whole, values.instant, values.word))
    for _ in range(random.randrange(1, 5)):
        paper.row((fill(random),))
    return paper.case("w3c", name)


def _multilingual(random: Random, name: str) -> Case:
    paper = Paper()
    paper.names(("Name", "Organisation", "العنوان", "Ville", "城市"))
    for _ in range(random.randrange(2, 12)):
        paper.row(
            (
                values.person(random),
                f"{values.word(random)} Org",
                random.choice(("القاهرة", "الجيزة")),
                random.choice(values.ACCENTED),
                random.choice(("北京", "上海", "深圳")),
            )
        )
    return paper.case("w3c", name)


W3C: Final[dict[str, Maker]] = {
    "small": _small, "tiny": _tiny, "typed": _typed, "small too": _small, "one cell": _one_cell,
    "multilingual": _multilingual, "plain": lambda random, name: _table(random, Paper()).case("w3c", name),
}  # fmt: skip


# ---- ugly: lead files with everything that went wrong on their way


def _leads(
    random: Random, paper: Paper, header: tuple[str, ...] | None = None, count: int = 0
) -> Paper:
    own = header or random.choice(values.LEAD_HEADERS)
    paper.names(own)
    for _ in range(count or random.randrange(5, 60)):
        paper.row(values.lead(random, own))
    return paper


def _any_paper(random: Random) -> Paper:
    return Paper(
        delimiter=random.choice((",", ";", "\t", "|")),
        always=random.random() < 0.3,
        end=random.choice(("\n", "\r\n")),
    )


def _ugly_dialect(random: Random, name: str) -> Case:
    delimiter = random.choice((",", ";", "\t", "|", "¬", "^", "~", "#", ", ", "||"))
    paper = Paper(
        delimiter=delimiter, always=random.random() < 0.3, end=random.choice(("\n", "\r\n", "\r"))
    )
    return _leads(random, paper).case("ugly", name)


def _ugly_encoding(random: Random, name: str) -> Case:
    encoding = random.choice(
        ("cp1252", "utf-8-sig", "utf-16", "utf-16-le", "cp932", "cp1250", "mac_roman", "gb18030")
    )
    header, names = {
        "cp932": (("氏名", "電話番号", "住所"), ("佐藤花子", "鈴木一郎", "高橋健", "田中美咲")),
        "gb18030": (("姓名", "电话", "地址"), ("王小明", "李华", "张伟", "刘洋")),
        "cp1250": (
            ("Jméno", "Telefon", "Město"),
            ("Jiří Novák", "Tomáš Dvořák", "Zdeněk Šimůnek", "Věra Horáčková"),
        ),
    }.get(
        encoding,
        (
            ("Nombre", "Teléfono", "Ciudad"),
            tuple(
                f"{one} {two}" for one in values.ACCENTED for two in ("Núñez", "García", "Brûlé")
            ),
        ),
    )
    towns = {
        "cp932": ("東京都港区", "大阪市北区"),
        "gb18030": ("北京市海淀区", "上海市"),
        "cp1250": ("Plzeň", "Brno"),
    }.get(encoding, ("León", "Málaga", "Köln"))
    if encoding in ("cp1252", "mac_roman"):
        names = tuple(one for one in names if "Ö" not in one and "Ç" not in one)
    paper = _any_paper(random)
    paper.names(header)
    for _ in range(random.randrange(12, 60)):
        paper.row((random.choice(names), values.phone(random), random.choice(towns)))
    return paper.case("ugly", name, encoding)


def _ugly_stray_byte(random: Random, name: str) -> Case:
    """UTF-8 with a few bytes of cp1252."""
    paper = Paper()
    paper.names(("Name", "Phone", "City"))
    for at in range(30):
        paper.row(
            (
                f"{random.choice(values.ACCENTED)} O§Dea"
                if at == 20
                else random.choice(values.ACCENTED),
                values.phone(random),
                values.city(random),
            )
        )
    case = paper.case("ugly", name)
    records = tuple(tuple(cell.replace("§", "’") for cell in row) for row in case.records)
    return Case(
        "ugly",
        name,
        case.file,
        case.data.replace("§".encode(), b"\x92"),
        case.header,
        records,
        case.lines,
    )


def _ugly_preamble(random: Random, name: str) -> Case:
    paper = _any_paper(random)
    paper.write(f"{values.city(random)} trade fair {values.day(random)}")
    for _ in range(random.randrange(3)):
        paper.write(
            random.choice(
                (
                    f"Exported by: {values.person(random)}",
                    f"Questions: {values.phone(random)}",
                    values.phone(random),
                    f"{values.sentence(random, 6)}",
                    "",
                )
            )
        )
    if random.random() < 0.5:
        paper.write("")
    return _leads(random, paper).case("ugly", name)


def _ugly_footer(random: Random, name: str) -> Case:
    paper = _leads(random, _any_paper(random))
    if random.random() < 0.6:
        paper.write("")
    paper.write(
        random.choice(
            (
                f"Total: {len(paper.records)}",
                f"{len(paper.records)} records",
                "End of report",
                f"Generated on {values.day(random)}",
                "Confidential, do not pass on",
            )
        )
    )
    return paper.case("ugly", name)


def _ugly_blank_lines(random: Random, name: str) -> Case:
    paper = _any_paper(random)
    header = random.choice(values.LEAD_HEADERS)
    paper.names(header)
    for _ in range(30):
        if random.random() < 0.2:
            paper.write(random.choice(("", "   ", paper.delimiter * (len(header) - 1))))
        paper.row(values.lead(random, header))
    return paper.case("ugly", name)


def _ugly_unclosed(random: Random, name: str) -> Case:
    """One quote opens and never closes."""
    paper = Paper(delimiter=random.choice(",;"), end=random.choice(("\n", "\r\n")))
    header = random.choice(values.LEAD_HEADERS[:6])
    paper.names(header)
    target, count = random.randrange(1, 28), 30
    for at in range(count):
        row = values.lead(random, header)
        if at == target:
            cells = [paper.cell(cell) for cell in row]
            place = random.randrange(len(cells))
            cells[place] = '"' + row[place]
            paper.damaged(paper.delimiter.join(cells), SPOILT)
        else:
            paper.row(row)
    return paper.case("ugly", name)


def _ugly_notes(random: Random, name: str) -> Case:
    """Notes over several lines, with lists, tables and phone numbers in them."""
    paper = Paper(delimiter=random.choice(",;"), end=random.choice(("\n", "\r\n")))
    header = ("Name", "Phone", "Email", "Notes")
    paper.names(header)
    for _ in range(random.randrange(6, 40)):
        kind = random.randrange(4)
        note = (
            "",
            "called twice\nno answer",
            f"ask for:\n- {values.person(random)}, {values.phone(random)}, {values.mail(random)}\n- {values.person(random)}, {values.phone(random)}, {values.mail(random)}",
            f'{values.sentence(random)}\n\n"{values.word(random)}" she said; {values.word(random)}',
        )[kind]
        paper.row((values.person(random), values.phone(random), values.mail(random), note))
    return paper.case("ugly", name)


def _ugly_no_header(random: Random, name: str) -> Case:
    paper = _any_paper(random)
    header = random.choice(values.LEAD_HEADERS[:7])
    for _ in range(random.randrange(1, 60)):
        paper.row(values.lead(random, header))
    return paper.case("ugly", name)


def _ugly_one_column(random: Random, name: str) -> Case:
    paper = Paper(quote=None)
    if random.random() < 0.5:
        paper.names((random.choice(("phone", "Phone Number", "Telefon", "numbers")),))
    for _ in range(random.randrange(3, 60)):
        paper.row((values.phone(random),))
    return paper.case("ugly", name)


def _ugly_repeated_header(random: Random, name: str) -> Case:
    paper = _any_paper(random)
    header = random.choice(values.LEAD_HEADERS)
    paper.names(header)
    for at in range(40):
        if at in (15, 30):
            paper.names(header)
        paper.row(values.lead(random, header))
    return paper.case("ugly", name)


def _ugly_two_headers(random: Random, name: str) -> Case:
    paper = Paper()
    if random.random() < 0.5:
        paper.write("Person,,Contact,,")
        return _leads(random, paper, values.LEAD_HEADERS[0]).case("ugly", name)
    paper.names(("first_name", "last_name", "phone", "email", "city"))
    paper.write("First name,Last name,Phone number,E-mail address,City")
    for _ in range(20):
        paper.row(values.lead(random, values.LEAD_HEADERS[0]))
    return paper.case("ugly", name)


def _ugly_ragged(random: Random, name: str) -> Case:
    paper = Paper(delimiter=random.choice(",;|"))
    header = ("First Name", "Phone", "Email", "City", "Notes")
    paper.names(header)
    for _ in range(40):
        row = values.lead(random, header)
        paper.row(row[: random.choice((5, 5, 5, 5, 4, 3, 2))])
    return paper.case("ugly", name)


def _ugly_missing_comma(random: Random, name: str) -> Case:
    """One row lost a delimiter, which must not turn the file into one column."""
    paper = Paper()
    header = random.choice(values.LEAD_HEADERS[:6])
    paper.names(header)
    target = random.randrange(20)
    for at in range(20):
        row = values.lead(random, header)
        if at == target:
            merged = (f"{row[0]} {row[1]}", *row[2:])
            paper.row(merged)
        else:
            paper.row(row)
    return paper.case("ugly", name)


def _ugly_quotes(random: Random, name: str) -> Case:
    """Doubled quotes, inches, nicknames."""
    paper = Paper(delimiter=random.choice(",;\t"), always=random.random() < 0.5)
    header = ("Name", "Phone", "Product")
    paper.names(header)
    for _ in range(30):
        paper.row(
            (
                random.choice(
                    (
                        values.person(random),
                        f'Robert "Bob" {random.choice(values.FAMILY)}',
                        "O'Dea, Pat",
                    )
                ),
                values.phone(random),
                random.choice(('TV 48"', '5" pipe', "desk", 'the "best" one, he said')),
            )
        )
    return paper.case("ugly", name)


def _ugly_characters(random: Random, name: str) -> Case:
    """NUL bytes, zero-width and non-breaking characters inside cells."""
    paper = Paper()
    paper.names(("Name", "Phone", "City"))
    for at in range(30):
        odd = ("", "\x00", "\u200b", "\u00a0", "\ufeff")[at % 5]
        paper.row(
            (
                f"{random.choice(values.GIVEN)}{odd} {random.choice(values.FAMILY)}",
                f"{values.phone(random)}{odd if odd != chr(0) else ''}",
                values.city(random),
            )
        )
    return paper.case("ugly", name)


def _ugly_marks(random: Random, name: str) -> Case:
    """A byte order mark before a quoted header, `sep=`, mixed line ends, an end-of-file mark."""
    paper = Paper(delimiter=random.choice(",;"), always=True)
    if random.random() < 0.4:
        paper.write(f"sep={paper.delimiter}")
    _leads(random, paper)
    case = paper.case("ugly", name)
    data = case.data
    if random.random() < 0.5:
        lines = data.split(b"\n")
        data = b"".join(line + random.choice((b"\n", b"\r\n")) for line in lines[:-1])
    if random.random() < 0.3:
        data += b"\x1a"
    return Case(
        "ugly", name, case.file, codecs.BOM_UTF8 + data, case.header, case.records, case.lines
    )


def _ugly_excel(random: Random, name: str) -> Case:
    """What a spreadsheet did to numbers stays as it is."""
    paper = Paper()
    paper.names(("Name", "Phone", "Zip", "Joined"))
    for _ in range(30):
        paper.row(
            (
                values.person(random),
                random.choice(
                    (
                        "2.12555E+09",
                        "2125550142.0",
                        "'2125550143",
                        '="2125550144"',
                        values.phone(random),
                    )
                ),
                "02134",
                random.choice(("44197", "1/2/2024", "Jan-24")),
            )
        )
    return paper.case("ugly", name)


def _ugly_padded(random: Random, name: str) -> Case:
    """Blanks around cells are the cells' own."""
    paper = Paper()
    paper.names((" Name ", "Phone", "  City"))
    for _ in range(20):
        paper.row(
            (
                f" {values.person(random)}",
                f"{values.phone(random)} ",
                random.choice((values.city(random), f" {values.city(random)} ")),
            )
        )
    return paper.case("ugly", name)


UGLY: Final[dict[str, Maker]] = {
    "dialect": _ugly_dialect, "encoding": _ugly_encoding, "stray byte": _ugly_stray_byte,
    "preamble": _ugly_preamble, "footer": _ugly_footer, "blank lines": _ugly_blank_lines,
    "unclosed quote": _ugly_unclosed, "notes over lines": _ugly_notes, "no header": _ugly_no_header,
    "one column": _ugly_one_column, "repeated header": _ugly_repeated_header,
    "two headers": _ugly_two_headers, "ragged": _ugly_ragged, "missing comma": _ugly_missing_comma,
    "quotes": _ugly_quotes, "characters": _ugly_characters, "marks": _ugly_marks,
    "spreadsheet damage": _ugly_excel, "padded": _ugly_padded,
}  # fmt: skip
