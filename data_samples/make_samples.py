"""Writes the sample lead files of `data_samples/leads`: the same files each time, no chance, no clock.

    python data_samples/make_samples.py [FOLDER]

Every person and every place is invented. Every phone number is one that is reserved for fiction:
North America `555-01xx`, Ofcom's `020 7946 0xxx`, Germany's `030 23125xxx`, France's
`01 99 00 xx xx`, Australia's `02 5550 xxxx` and `0491 570 006`.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
import zipfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

FIRST = (
    *("Ada", "Ben", "Carla", "Dev", "Elena", "Frank", "Grace", "Hugo", "Ines", "Jonas", "Kira"),
    *("Liam", "Mona", "Nils", "Olga", "Priya", "Quinn", "Rosa", "Sven", "Tara", "Uma", "Victor"),
)
LAST = (
    *("Abbott", "Barnes", "Castillo", "Dunn", "Ellis", "Foster", "Grant", "Hobbs", "Ibarra"),
    *(
        "Jensen",
        "Keller",
        "Lowell",
        "Marsh",
        "Novak",
        "Ortiz",
        "Pratt",
        "Quigley",
        "Reyes",
        "Stone",
    ),
)
#: Area codes of one time zone each, with a place.
AREAS = (
    ("212", "New York", "NY", "10001"),
    ("312", "Chicago", "IL", "60601"),
    ("713", "Houston", "TX", "77002"),
    ("206", "Seattle", "WA", "98101"),
    ("617", "Boston", "MA", "02108"),
    ("404", "Atlanta", "GA", "30303"),
)
SHAPES = (
    "({a}) 555-{n}",
    "{a}-555-{n}",
    "{a}.555.{n}",
    "{a}555{n}",
    "+1{a}555{n}",
    "+1 ({a}) 555-{n}",
    "1-{a}-555-{n}",
    "{a} 555 {n}",
    "{a}555{n}.0",
    " {a}-555-{n} ",
)
SOURCES = ("Trade fair", "Web form", "Partner list", "Referral", "Autumn mailing")

US_HEADER = (
    *("Lead ID", "First Name", "Last Name", "Mobile", "Home Phone", "E-mail", "City", "State"),
    *("Zip", "Lead Source", "Do Not Call", "Notes"),
)
#: Row (0-based) of the campaign list to the cells that are not what follows from its place.
US_CHANGED: dict[int, dict[str, str]] = {
    4: {"Notes": 'Said "call after lunch", then hung up'},
    9: {"First Name": "Renée", "Last Name": "O’Dowd"},
    12: {"Mobile": "(212) 555-0102 ext. 14"},
    15: {"Notes": "Asked for a brochure\nand a second one for her sister"},
    17: {"Mobile": "404-555-0102 x207"},
    20: {"Mobile": ""},
    23: {"Mobile": "n/a", "Home Phone": "404-555-0193"},
    26: {"Mobile": "2.12555E+09"},
    31: {"Do Not Call": "Yes"},
    34: {"Mobile": "617-555-01"},
    38: {"Mobile": "0000000000"},
    41: {"E-mail": "no-at-sign.example.com"},
    44: {"Do Not Call": "TRUE"},
    47: {"Mobile": "404-555-0107 / 404-555-0187"},
    52: {"Mobile": "3.12555E+09"},
    55: {"Mobile": "-"},
    58: {"Do Not Call": "x"},
    61: {"Notes": '=HYPERLINK("http://example.com","click")'},
    63: {"Mobile": "(555) 555-0123"},
    66: {"Mobile": '="2125550111"'},
    70: {"Do Not Call": "Y"},
    74: {"Mobile": "9999999999"},
    77: {"Mobile": "4045550112345"},
    80: {"Mobile": "7.13555E+09"},
    83: {"Mobile": "ask the office"},
    88: {"Do Not Call": "only e-mail"},
    91: {"E-mail": "mailto:mona.foster91@example.com"},
    95: {"Mobile": ""},
    99: {"Mobile": "+44 20 7946 0018"},
    104: {"Mobile": "1234567890"},
    107: {"Mobile": "4.04555E+09"},
    111: {"Do Not Call": "1"},
    116: {"Mobile": "", "Home Phone": "713-555-0194"},
    119: {"Mobile": "555-0119"},
    122: {"Mobile": ""},
    126: {"Do Not Call": "Yes"},
    133: {"Mobile": "312-555-0122 ext 9"},
    140: {"Mobile": "713-555-0123 or 713-555-0183"},
    148: {"E-mail": "two@example.com; names@example.com"},
    155: {"Mobile": "none"},
    163: {"Do Not Call": "opt out"},
    170: {"Mobile": "7.135550128E+09"},
    177: {"Mobile": "206-555-012"},
    185: {"Mobile": "2.06555E+09"},
    192: {"Mobile": ""},
    199: {"Do Not Call": "yes"},
    208: {"Mobile": "617-555-0134 x1"},
    215: {"Mobile": "0000000000"},
    222: {"Mobile": "(999) 555-0137"},
    230: {"Mobile": "713-555-0138 (mobile)"},
    238: {"Mobile": ""},
    246: {"First Name": "", "Last Name": ""},
    255: {"E-mail": ""},
    263: {"Mobile": "Tel. 404-555-0143"},
    271: {"Mobile": "unknown"},
    280: {"Lead ID": "AC-0001"},
}
#: Row to the earlier row whose number it repeats in another shape.
US_REPEATS = {45: 3, 67: 10, 89: 31, 101: 2, 118: 46, 135: 46, 150: 0}  # fmt: skip
US_REPEATS |= {166: 25, 181: 100, 203: 7, 219: 0, 241: 16, 259: 30, 288: 276}  # fmt: skip
#: Row to what happened to its line.
US_DAMAGED: dict[int, Callable[[str], str]] = {
    110: lambda line: line.replace(",No,", ",No,call, or write,"),
    173: lambda line: line.replace(",", ',"', 1),
    250: lambda line: line.rstrip("\r\n").rsplit(",", 4)[0] + "\r\n",
}


def us_autumn_campaign() -> bytes:
    """The demo's list: 300 rows with everything that a real list has wrong."""
    lines = [as_csv([US_HEADER])]
    for at in range(300):
        changed = US_CHANGED.get(at, {})
        if at in US_REPEATS:
            changed = {"Mobile": us_number(US_REPEATS[at], SHAPES[(at + 3) % 8])}
        line = as_csv([us_row(at, changed)])
        lines.append(US_DAMAGED[at](line) if at in US_DAMAGED else line)
    lines.insert(151, lines[0])
    lines.insert(201, ",,,,,,,,,,,\r\n")
    lines.append("Total,300,,,,,,,,,,\r\n")
    return "".join(lines).encode()


def us_row(at: int, changed: dict[str, str]) -> list[str]:
    """One row of the campaign list; what is not told follows from its place."""
    _, city, state, zip_code = AREAS[at % 6]
    first, last = FIRST[at % len(FIRST)], LAST[(at * 7) % len(LAST)]
    row = {
        "Lead ID": f"AC-{at + 1:04d}",
        "First Name": first,
        "Last Name": last,
        "Mobile": us_number(at, SHAPES[at % len(SHAPES)]),
        "Home Phone": "",
        "E-mail": f"{first}.{last}{at}@example.com".lower(),
        "City": city,
        "State": state,
        "Zip": zip_code,
        "Lead Source": SOURCES[at % len(SOURCES)],
        "Do Not Call": "No" if at % 3 else "",
        "Notes": "",
    }
    return list((row | changed).values())


def us_number(at: int, shape: str = SHAPES[1]) -> str:
    """The fictional number of a place: 600 of them, one after the other."""
    return shape.format(a=AREAS[at % 6][0], n=f"01{(at // 6) % 100:02d}")


def uk_clinics() -> bytes:
    """Delimiter U+00AC as the byte 0xAC, cp1252, a fax beside the phone, dummies and blanks."""
    rows = [["ClinicID", "ClinicName", "Town", "Postcode", "Phone", "Email", "Fax"]]
    for at in range(40):
        phone = f"020 7946 0{at:03d}" if at % 7 else ""
        phone = {5: "00000000000", 11: "020 7946 0003 ", 13: "+44 (0)20 7946 0012"}.get(at, phone)
        fax = f"020 7946 0{at + 500:03d}" if at % 3 else ""
        name = ("Café Road Surgery", "St Mary’s Clinic", "Brook House")[at % 3]
        mail = f"clinic{at}@example.org" if at % 2 else ""
        town = ("Northby", "Eastham", "Westley", "Southwick")[at % 4]
        rows.append([str(17000 + at), name, town, f"NB{at} 1AA", phone, mail, fax])
    return "\r\n".join("¬".join(row) for row in rows).encode("cp1252") + b"\r\n"


def us_stray_byte() -> bytes:
    """UTF-8 but for one byte of cp1252 in row 30, as an export pieced together has it."""
    rows = [["name", "phone", "email", "city"]]
    for at in range(40):
        name = f"{('José', 'Zoë', 'André', 'Bob')[at % 4]} {LAST[at % len(LAST)]}"
        mail = f"person{at}@example.com"
        rows.append([name, us_number(at + 300), mail, AREAS[at % 6][1]])
    data = as_csv(rows).encode()
    lines = data.split(b"\r\n")
    lines[30] = lines[30].replace(b" ", b" O\x92", 1)
    return b"\r\n".join(lines)


def us_registry() -> bytes:
    """28 columns, all quoted, ids and post codes with leading zeros: more than 20 custom fields."""
    measures = [f"Measure {at}" for at in range(1, 21)]
    header = [
        "Provider ID",
        "Provider Name",
        "Address",
        "City",
        "State",
        "ZIP Code",
        "County Name",
    ]
    rows = [[*header, "Phone Number", *measures]]
    for at in range(25):
        _, city, state, zip_code = AREAS[at % 6]
        own = [
            f"{10000 + at:06d}",
            f"{LAST[at % 19].upper()} CLINIC",
            f"{at + 1} MAIN ST",
            city,
            state,
        ]
        number = us_number(at + 360, "{a}555{n}")
        rows.append([*own, f"0{zip_code[1:]}", "FICTION", number, *[f"{at % 5}"] * 20])
    return as_csv(rows, quoting=csv.QUOTE_ALL).encode()


def de_schulen() -> bytes:
    """A byte order mark, umlauts, numbers cut off behind the area code, a fax that is always there."""
    rows = [["OID", "schulname", "bezirk", "plz", "telefon", "fax", "email"]]
    for at in range(30):
        phone = f"+49 30 23125{at:03d}" if at % 10 != 7 else "+49 30"
        fax = f"+49 30 23125{at + 500:03d}"
        name = ("Grundschule am Mühlenfließ", "Schule „Groß & Klein“", "Förderschule Süd")[at % 3]
        rows.append([str(at + 1), name, "Köpenick", "01099", phone, fax, f"schule{at}@example.de"])
    return b"\xef\xbb\xbf" + as_csv(rows, end="\n").encode()


def de_haendler() -> bytes:
    """Semicolons, cp1252, a title above the header, decimal commas, a total and a remark below."""
    lines = ["Kundenliste Herbst", "Stand: 30.09.2024; vertraulich", ""]
    lines.append("Kunden-Nr;Vorname;Name;Telefon privat;Handy;E-Mail;Umsatz;Nicht anrufen")
    for at in range(24):
        mobile = "" if at % 2 else f"030 23125 {at + 100:03d}"
        home = f"030/23125{at + 200:03d}"
        stop = {6: "ja", 9: "nein", 15: "?"}.get(at, "")
        cells = [f"{at + 1:05d}", FIRST[at % 22], ("Müller", "Groß", "Weiß")[at % 3], home, mobile]
        lines.append(";".join([*cells, f"kunde{at}@example.de", f"{at * 7},50", stop]))
    lines += ["Summe;24;;;;;1932,00;", "", "Erstellt mit der Kundenverwaltung"]
    return "\r\n".join(lines).encode("cp1252")


def jp_contacts() -> bytes:
    """Japanese headers and names in Shift_JIS; the numbers are American, Japan reserves none."""
    rows = [["顧客番号", "氏名", "携帯電話番号", "FAX番号", "メールアドレス", "住所", "電話不可"]]
    for at in range(20):
        name = f"{('山田', '佐藤', '鈴木', '高橋')[at % 4]}　{('太郎', '花子', '一郎')[at % 3]}"
        number, fax = us_number(at + 420, "+1-{a}-555-{n}"), us_number(at + 540, "+1-{a}-555-{n}")
        stop = "はい" if at in (4, 13) else "いいえ"
        rows.append(
            [f"K{at:04d}", name, number, fax, f"kyaku{at}@example.jp", "東京都架空区一丁目", stop]
        )
    return as_csv(rows).encode("cp932")


def au_partners() -> bytes:
    """Tab-separated, with LF line ends, a mobile and an office number, gzipped."""
    mobiles = ("0491 570 006", "0491 570 156", "0491 570 157", "0491 570 158", "0491 570 159", "")
    rows = [["Contact ID", "Full Name", "Mobile", "Work Phone", "Consent", "Suburb"]]
    for at in range(18):
        consent = {7: "", 8: "No", 13: "later"}.get(at, ("Yes", "yes", "Y")[at % 3])
        name = f"{LAST[at]}, {FIRST[at]}"
        office = f"(02) 5550 {at + 1000:04d}"
        mobile = mobiles[at // 3] if at % 3 == 0 else ""
        rows.append([f"P-{at:03d}", name, mobile, office, consent, "Sampleton"])
    text = "\n".join("\t".join(row) for row in rows) + "\n"
    return gzip.compress(text.encode(), mtime=0)


def us_headerless() -> bytes:
    """No header, pipes, CR line ends as old exports have them."""
    rows = [
        [
            FIRST[at % 22],
            LAST[at % 19],
            us_number(at + 480),
            f"h{at}@example.com",
            AREAS[at % 6][2],
        ]
        for at in range(15)
    ]
    return "\r".join("|".join(row) for row in rows).encode()


def fr_prospects() -> bytes:
    """JSON lines with an object inside, a number that is no text, a null and one broken line."""
    lines = []
    for at in range(16):
        phone = f"01 99 00 {at:02d} {at + 10:02d}"
        record: dict[str, object] = {
            "ref": f"FR{at:03d}",
            "prenom": ("Zoé", "Anaïs", "Loïc", "Jérôme")[at % 4],
            "nom": ("Lefèvre", "Garçon", "Dubois")[at % 3],
            "contact": {"telephone": phone, "courriel": f"prospect{at}@example.fr"},
            "score": at / 2,
            "ne_pas_appeler": at == 6,
        }
        record |= {"contact": {"telephone": None}} if at == 9 else {}
        lines.append(json.dumps(record, ensure_ascii=False))
    lines[12] = lines[12][:-20]
    return ("\n".join(lines) + "\n").encode()


def us_walk_ins() -> bytes:
    """A workbook: cover sheet, title row, phones and post codes as numbers, a total, a hidden sheet."""
    rows: list[list[object]] = [["Walk-in list, spring"], []]
    rows.append(["Visitor Name", "Phone", "ZIP", "Visited", "E-mail"])
    for at in range(20):
        digits = us_number(at + 500, "{a}555{n}")
        phone: object = int(digits) if at % 4 else us_number(at + 500)
        zip_code = int(AREAS[at % 6][3])
        rows.append(
            [f"{FIRST[at]} {LAST[at % 19]}", phone, zip_code, 45000 + at, f"v{at}@example.com"]
        )
    rows += [[], ["Total", 20]]
    cover: list[list[object]] = [["Prepared for the spring fair"]]
    hidden: list[list[object]] = [["Name", "Phone"], ["Old entry", us_number(590)]]
    sheets = (("Cover", cover, ""), ("Visitors", rows, ""), ("Old", hidden, ' state="hidden"'))
    return as_xlsx(sheets)


def us_crm_export() -> bytes:
    """Parquet with the phone in a column of floats, as a table with gaps makes it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    places = range(30)
    phones = [None if at % 9 == 4 else float(us_number(at + 530, "{a}555{n}")) for at in places]
    table = pa.table(
        {
            "customer_id": [f"{at:08d}" for at in places],
            "full_name": [f"{FIRST[at % 22]} {LAST[at % 19]}" for at in places],
            "phone": pa.array(phones, pa.float64()),
            "email": [f"crm{at}@example.com" for at in places],
            "opted_in": pa.array([at % 10 != 3 for at in places], pa.bool_()),
            "balance": pa.array([at * 1.25 for at in places], pa.float64()),
        }
    )
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


def as_csv(
    rows: Iterable[Sequence[str]], *, quoting: int = csv.QUOTE_MINIMAL, end: str = "\r\n"
) -> str:
    """Rows as CSV text."""
    text = io.StringIO(newline="")
    csv.writer(text, quoting=quoting, lineterminator=end).writerows(rows)
    return text.getvalue()


def as_xlsx(sheets: Sequence[tuple[str, Sequence[Sequence[object]], str]]) -> bytes:
    """Sheets (name, rows, further attributes) as a plain XLSX; every byte follows from them.

    The third column shows five digits (`00000`), the fourth dates.
    """
    spaces = "http://schemas.openxmlformats.org"
    main = f'xmlns="{spaces}/spreadsheetml/2006/main"'
    office = f"{spaces}/officeDocument/2006/relationships"
    package = f"{spaces}/package/2006"
    numbers = range(1, len(sheets) + 1)
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    listed = "".join(
        f'<sheet name="{name}" sheetId="{at}" r:id="rId{at}"{more}/>'
        for at, (name, _, more) in zip(numbers, sheets, strict=True)
    )
    linked = "".join(
        f'<Relationship Id="rId{at}" Type="{office}/worksheet" Target="worksheets/sheet{at}.xml"/>'
        for at in numbers
    )
    typed = "".join(
        f'<Override PartName="/xl/worksheets/sheet{at}.xml" ContentType="{kind}.worksheet+xml"/>'
        for at in numbers
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
        f'<Override PartName="/xl/styles.xml" ContentType="{kind}.styles+xml"/>{typed}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="rId1" '
        f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook {main} xmlns:r="{office}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">{linked}'
        f'<Relationship Id="rIdS" Type="{office}/styles" Target="styles.xml"/></Relationships>',
        "xl/styles.xml": f'<styleSheet {main}><numFmts count="1"><numFmt numFmtId="164" '
        'formatCode="00000"/></numFmts><fonts count="1"><font/></fonts><fills count="1"><fill/>'
        '</fills><borders count="1"><border/></borders><cellXfs count="3"><xf numFmtId="0"/>'
        '<xf numFmtId="164"/><xf numFmtId="14"/></cellXfs></styleSheet>',
    }
    for at, (_, rows, _) in zip(numbers, sheets, strict=True):
        parts[f"xl/worksheets/sheet{at}.xml"] = as_sheet(rows, main)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, text in parts.items():
            head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
            archive.writestr(zipfile.ZipInfo(name), head + text)
    return out.getvalue()


def as_sheet(rows: Sequence[Sequence[object]], main: str) -> str:
    """One sheet: texts inline, numbers with the style of their column."""
    text = []
    for number, row in enumerate(rows, start=1):
        cells = []
        for letter, style, cell in zip("ABCDE", "00120", row, strict=False):
            place = f'r="{letter}{number}"'
            if isinstance(cell, str):
                cells.append(f'<c {place} t="inlineStr"><is><t>{escape(cell)}</t></is></c>')
            else:
                cells.append(f'<c {place} s="{style}"><v>{cell}</v></c>')
        text.append(f'<row r="{number}">{"".join(cells)}</row>')
    return f"<worksheet {main}><sheetData>{''.join(text)}</sheetData></worksheet>"


#: File name to what makes its bytes.
SAMPLES: dict[str, Callable[[], bytes]] = {
    "us_autumn_campaign.csv": us_autumn_campaign,
    "uk_clinics_notsign_cp1252.csv": uk_clinics,
    "us_stray_byte.csv": us_stray_byte,
    "us_registry_28_columns.csv": us_registry,
    "de_schulen_bom.csv": de_schulen,
    "de_haendler_semikolon.csv": de_haendler,
    "jp_contacts_shift_jis.csv": jp_contacts,
    "au_partners.tsv.gz": au_partners,
    "us_headerless_pipe.txt": us_headerless,
    "fr_prospects.jsonl": fr_prospects,
    "us_walk_ins.xlsx": us_walk_ins,
    "us_crm_export.parquet": us_crm_export,
}


def main(folder: Path) -> None:
    """Write every sample into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in SAMPLES.items():
        (folder / name).write_bytes(make())


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "leads")
