"""Made values and tables of many kinds, drawn by a seeded random; no number belongs to anyone."""

from __future__ import annotations

from random import Random
from typing import Final

GIVEN: Final = [
    "Ann",
    "Bob",
    "Cy",
    "Dana",
    "Eve",
    "Finn",
    "Gus",
    "Hana",
    "Ivo",
    "Jana",
    "Kofi",
    "Lea",
    "Milo",
    "Nora",
    "Otto",
    "Pia",
    "Quin",
    "Rosa",
    "Sam",
    "Tess",
]
FAMILY: Final = [
    "Adler",
    "Brook",
    "Castle",
    "Dune",
    "Ember",
    "Field",
    "Grove",
    "Hill",
    "Isle",
    "Jarvis",
    "Kestrel",
    "Lark",
    "Moss",
    "North",
    "Orchard",
    "Pike",
]
CITIES: Final = [
    "Boston",
    "Leeds",
    "Lyon",
    "Porto",
    "Graz",
    "Ghent",
    "Turin",
    "Bergen",
    "Austin",
    "Perth",
    "Sligo",
    "Denver",
    "Tampa",
    "Kiel",
]
STREETS: Final = [
    "High",
    "Mill",
    "Station",
    "Church",
    "Garden",
    "River",
    "Bridge",
    "Castle",
    "Market",
    "School",
]
NOUNS: Final = [
    "report",
    "budget",
    "garden",
    "invoice",
    "river",
    "meeting",
    "engine",
    "window",
    "travel",
    "paper",
    "market",
    "signal",
    "answer",
    "supply",
]
VERBS: Final = [
    "opens",
    "holds",
    "moves",
    "follows",
    "carries",
    "needs",
    "finds",
    "keeps",
    "leaves",
    "shows",
]
ADJECTIVES: Final = [
    "small",
    "annual",
    "green",
    "broken",
    "quiet",
    "public",
    "early",
    "second",
    "formal",
    "local",
]
ACCENTED: Final = (
    "Zoë",
    "Jörg",
    "Renée",
    "José",
    "Åsa",
    "Çelik",
    "Müller",
    "Peña",
    "François",
    "Öztürk",
)


def phone(random: Random) -> str:
    """A fictional number in one of many shapes."""
    area = random.choice((212, 310, 415, 617, 702, 808))
    line = random.randrange(100, 200)
    shape = random.choice(
        (
            "{a}-555-0{l}",
            "({a}) 555-0{l}",
            "+1 {a} 555 0{l}",
            "{a}5550{l}",
            "+1{a}5550{l}",
            "{a}.555.0{l}",
        )
    )
    return shape.format(a=area, l=line)


def number(random: Random) -> str:
    """A decimal number."""
    return f"{random.uniform(-50, 5000):.{random.randrange(4)}f}"


def whole(random: Random) -> str:
    """A whole number."""
    return str(random.randrange(10 ** random.randrange(1, 6)))


def money(random: Random) -> str:
    """An amount with thousands' commas."""
    return f"{random.uniform(1, 90_000):,.2f}"


def day(random: Random) -> str:
    """A date."""
    shape = random.choice(
        ("{y}-{m:02d}-{d:02d}", "{d:02d}/{m:02d}/{y}", "{m}/{d}/{y}", "{d:02d}.{m:02d}.{y}")
    )
    return shape.format(
        y=random.randrange(1990, 2026), m=random.randrange(1, 13), d=random.randrange(1, 29)
    )


def instant(random: Random) -> str:
    """A date with a time."""
    return f"2024-{random.randrange(1, 13):02d}-{random.randrange(1, 29):02d} {clock(random)}"


def clock(random: Random) -> str:
    """A time of the day."""
    return f"{random.randrange(24):02d}:{random.randrange(60):02d}:{random.randrange(60):02d}"


def person(random: Random) -> str:
    """A name."""
    return f"{random.choice(GIVEN)} {random.choice(FAMILY)}"


def word(random: Random) -> str:
    """A word."""
    return random.choice(NOUNS)


def city(random: Random) -> str:
    """A town."""
    return random.choice(CITIES)


def address(random: Random) -> str:
    """A street address, mostly with a comma."""
    return f"{random.randrange(1, 250)} {random.choice(STREETS)} Street, {city(random)}"


def mail(random: Random) -> str:
    """An e-mail address."""
    return f"{random.choice(GIVEN).lower()}.{random.choice(FAMILY).lower()}@example.com"


def url(random: Random) -> str:
    """A web address."""
    return f"https://www.example.org/{word(random)}/{random.randrange(999)}?id={random.randrange(99)}&x=1"


def code(random: Random) -> str:
    """An identifier of letters and digits."""
    return f"{random.choice('ABCDEFGH')}{random.choice('KLMN')}-{random.randrange(1000, 9999)}"


def sentence(random: Random, words: int | None = None) -> str:
    """A sentence, with commas now and then."""
    count = words or random.randrange(5, 16)
    found = [random.choice((NOUNS, VERBS, ADJECTIVES)[at % 3]) for at in range(count)]
    if count > 6 and random.random() < 0.6:
        found[count // 2] += ","
    return " ".join(found).capitalize() + "."


def markup(random: Random) -> str:
    """A piece of HTML."""
    return f'<p class="{word(random)}">{sentence(random)} <a href="{url(random)}">{word(random)}</a>; {word(random)}</p>'


def json_text(random: Random) -> str:
    """A JSON object."""
    return f'{{"{word(random)}": {random.randrange(99)}, "{word(random)}": ["{word(random)}", "{word(random)}"]}}'


def geometry(random: Random) -> str:
    """A polygon as well-known text."""
    points = ", ".join(
        f"{random.uniform(-9, 9):.3f} {random.uniform(40, 60):.3f}" for _ in range(4)
    )
    return f"POLYGON (({points}))"


def flag(random: Random) -> str:
    """A truth value."""
    return random.choice(("TRUE", "FALSE"))


def maybe(random: Random) -> str:
    """A number, or a word for none."""
    return random.choice(("NA", "N/A", "", "-", whole(random), number(random)))


def path(random: Random) -> str:
    """A path in a file system."""
    return f"/var/{word(random)}/{word(random)}_{random.randrange(99)}.txt"


def answer(random: Random) -> str:
    """An answer in a questionnaire, sometimes over lines."""
    if random.random() < 0.15:
        return f"{sentence(random)}\n{sentence(random)}"
    if random.random() < 0.2:
        return ""
    return (
        sentence(random)
        if random.random() < 0.5
        else random.choice(("Agree", "Strongly agree", "Disagree", "Neither"))
    )


def ip(random: Random) -> str:
    """An address of the documentation network."""
    return f"192.0.2.{random.randrange(256)}"


#: Kinds of tables: names of the columns with what fills them.
KINDS: Final = {
    "spending": (
        (
            "Department family",
            "Entity",
            "Date",
            "Expense Type",
            "Supplier",
            "Transaction Number",
            "Amount",
        ),
        (
            word,
            lambda r: f"{word(r)} office",
            day,
            word,
            lambda r: f"{r.choice(FAMILY)} & Co, {city(r)}",
            whole,
            money,
        ),
    ),
    "measurements": (("time", "ch1", "ch2", "temp (C)"), (number, number, number, number)),
    "weather": (
        ("yyyy", "mm", "tmax degC", "rain mm", "sun hours"),
        (
            lambda r: str(r.randrange(1950, 2020)),
            lambda r: str(r.randrange(1, 13)),
            number,
            number,
            maybe,
        ),
    ),
    "posts": (
        (
            "Post Unique Reference",
            "Name",
            "Grade",
            "Job Title",
            "Job/Team Function",
            "Contact E-mail",
            "FTE",
            "Notes",
        ),
        (
            whole,
            person,
            lambda r: r.choice(("SCS1", "Grade 7", "HEO")),
            lambda r: f"{r.choice(ADJECTIVES).title()} Officer",
            sentence,
            mail,
            number,
            maybe,
        ),
    ),
    "answers": (
        (
            "Timestamp",
            "How satisfied are you with the service?",
            "What would you change, if anything?",
            "Age group",
            "Score (1-10)",
        ),
        (
            instant,
            answer,
            answer,
            lambda r: r.choice(("18-24", "25-34", "35-44")),
            lambda r: str(r.randrange(1, 11)),
        ),
    ),
    "events": (
        ("Name", "Start Date", "Location Name", "Location Address", "Ticket Url"),
        (
            lambda r: f"{r.choice(FAMILY)} {word(r)}",
            lambda r: f"2024-04-{r.randrange(10, 29)}T20:00",
            lambda r: f"{word(r).title()} Hall, {city(r)}",
            address,
            url,
        ),
    ),
    "countries": (
        ("country", "country group", "name (en)", "latitude", "longitude"),
        (lambda r: r.choice(("at", "be", "bg")), lambda r: "eu", city, number, number),
    ),
    "products": (
        ("sku", "title", "description", "price", "in stock", "link"),
        (
            code,
            lambda r: f"{r.choice(ADJECTIVES)} {word(r)}",
            sentence,
            lambda r: f"${r.randrange(200)}.{r.randrange(10, 99)}",
            flag,
            url,
        ),
    ),
    "shapes": (("id", "name", "geometry"), (whole, word, geometry)),
    "pages": (("id", "slug", "body", "published"), (whole, word, markup, day)),
    "settings": (("key", "payload", "updated"), (word, json_text, instant)),
    "files": (
        ("path", "size", "modified", "owner"),
        (path, whole, instant, lambda r: r.choice(GIVEN).lower()),
    ),
    "translations": (
        ("source", "target"),
        (sentence, lambda r: f"{r.choice(ACCENTED)} {sentence(r)}"),
    ),
    "visits": (("ip", "time", "seconds", "page"), (ip, instant, number, path)),
    "flags": (("id", "a", "b", "c", "d"), (whole, flag, maybe, maybe, flag)),
    "trees": (
        ("GID", "On Street", "Species", "Trim Cycle", "Inventory Date"),
        (
            whole,
            lambda r: f"{r.choice(STREETS).upper()} AV",
            lambda r: f"{r.choice(NOUNS).title()} {r.choice(ADJECTIVES)}",
            lambda r: r.choice(("Large Tree Routine Prune", "")),
            lambda r: f"{r.randrange(1, 13)}/{r.randrange(1, 29)}/2010",
        ),
    ),
    "tweets": (
        ("id", "when", "who", "text"),
        (
            whole,
            instant,
            lambda r: f"@{r.choice(GIVEN).lower()}",
            lambda r: f"{sentence(r)} #{word(r)} {url(r)}",
        ),
    ),
    "accounts": (
        ("Konto", "Bezeichnung", "Betrag", "Datum"),
        (
            whole,
            lambda r: r.choice(ACCENTED),
            lambda r: f"{r.randrange(9999)},{r.randrange(10, 99)}",
            lambda r: f"{r.randrange(10, 28)}.0{r.randrange(1, 9)}.2024",
        ),
    ),
}


def rows(random: Random, kind: str, count: int) -> list[tuple[str, ...]]:
    """Records of a kind of table."""
    _, fills = KINDS[kind]
    return [tuple(fill(random) for fill in fills) for _ in range(count)]


def names(kind: str) -> tuple[str, ...]:
    """Header of a kind of table."""
    return KINDS[kind][0]


#: Columns of lead files in several languages.
LEAD_HEADERS: Final = (
    ("First Name", "Last Name", "Phone", "Email", "City"),
    ("Name", "Telephone", "Mobile", "E-mail", "Notes"),
    ("Vorname", "Nachname", "Telefon", "E-Mail", "Ort"),
    ("Prénom", "Nom", "Téléphone", "Courriel", "Ville"),
    ("Nombre", "Apellidos", "Teléfono", "Correo", "Ciudad"),
    ("id", "full_name", "phone_number", "email", "zip", "opt_out"),
    ("Customer ID", "Contact", "Primary Phone", "E-Mail Address", "Street", "City", "State"),
    ("氏名", "電話番号", "メール", "住所"),
)


#: What fills a column of a lead file, by a part of its name in lower case; the first that fits.
_FILLS: Final = (
    (("phone", "tel", "tél", "mobile", "電話"), phone),
    (("mail", "courriel", "correo", "メール"), lambda random: mail(random) if random.random() < 0.9 else ""),
    (("first name", "vorname", "prénom", "nombre"), lambda random: random.choice(GIVEN)),
    (("last name", "nachname", "apellidos"), lambda random: random.choice(FAMILY)),
    (("customer id", "id"), lambda random: str(random.randrange(10_000, 99_999))),
    (("zip",), lambda random: f"0{random.randrange(1000, 9999)}"),
    (("opt_out",), lambda random: random.choice(("no", "yes", ""))),
    (("notes",), lambda random: random.choice(("", "call back", "met at the fair, liked it", "prefers mornings; busy"))),
    (("street", "住所"), address),
    (("city", "ort", "ville", "ciudad"), city),
    (("state",), lambda random: random.choice(("NY", "CA", "MA"))),
    (("name", "contact", "nom", "氏名"), lambda random: person(random) if random.random() < 0.85 else f"{random.choice(FAMILY)}, {random.choice(GIVEN)}"),
)  # fmt: skip


def lead(random: Random, header: tuple[str, ...]) -> tuple[str, ...]:
    """A record for a header of `LEAD_HEADERS`."""
    return tuple(_fill(random, name.lower()) for name in header)


def _fill(random: Random, name: str) -> str:
    exact = next((fill for parts, fill in _FILLS if name in parts), None)
    fill = exact or next(fill for parts, fill in _FILLS if any(part in name for part in parts))
    return fill(random)
