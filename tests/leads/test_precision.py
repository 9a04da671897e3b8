"""Public-looking lists lose nobody, and nothing of them is for ever; flags are obeyed by columns alone."""

from __future__ import annotations

import random
import tomllib
from pathlib import Path

import phonenumbers
import pytest

from dialframe import leads, opt_outs
from dialframe.leads.columns.questions import phrase_in

TABLES = tomllib.loads(Path(__file__).with_name("public_lists.toml").read_text("utf-8"))
VOCABULARY = {language: text.split("|") for language, text in TABLES["vocabulary"].items()}
REGIONS = dict(
    zip(
        VOCABULARY,
        ["US", "DE", "FR", "ES", "PT", "IT", "NL", "PL", "SE", "TR", "JP", "CN", "KR", "RU"],
        strict=True,
    )
)
#: Columns in which names, places, jobs, firms and industries of each language stand.
HEADERS = {
    "en": "Company|Job title|Industry", "de": "Branche|Firma|Beruf", "fr": "Société|Ville|Activité",
    "es": "Empresa|Dirección|Sector", "pt": "Empresa|Cidade|Ramo", "it": "Azienda|Indirizzo|Settore",
    "nl": "Bedrijf|Adres|Branche", "pl": "Firma|Adres|Branża", "sv": "Företag|Adress|Bransch",
    "tr": "Firma|Adres|Sektör", "ja": "会社名|住所|業種", "zh": "公司|地址|行业", "ko": "회사|주소|업종",
    "ru": "Компания|Адрес|Отрасль",
}  # fmt: skip
ROWS = 20


def numbers(region: str, count: int, seed: int) -> list[str]:
    """Valid national numbers of a region, as they are written there."""
    draw, found = random.Random(seed), {}
    example = phonenumbers.example_number_for_type(region, phonenumbers.PhoneNumberType.MOBILE)
    text = str(example.national_number)
    while len(found) < count:
        digits = text[:-5] + f"{draw.randrange(10**5):05}"
        number = phonenumbers.parse(f"+{example.country_code}{digits}")
        if phonenumbers.is_valid_number(number):
            form = phonenumbers.PhoneNumberFormat.NATIONAL
            found[phonenumbers.format_number(number, form)] = None
    return list(found)


def csv_of(columns: dict[str, list[str]], phones: list[str], phone: str) -> str:
    """The list as CSV, each column's cells in turn."""
    header = [*columns, phone]
    quote = '"{}"'.format
    rows = [
        [*(cells[at % len(cells)].replace("#", f"{at}") for cells in columns.values()), number]
        for at, number in enumerate(phones)
    ]
    return "\n".join(",".join(map(quote, row)) for row in [header, *rows])


LISTS = [
    *(
        (each["about"], each["region"], each.get("phone", "Phone"),
         {name: cells.split("|") for name, cells in each["columns"].items()})
        for each in TABLES["lists"]
    ),
    *(
        (f"{language} {header}", REGIONS[language], "Phone", {header: words})
        for language, words in VOCABULARY.items()
        for header in HEADERS[language].split("|")
    ),
]  # fmt: skip


def test_there_are_forty_lists():
    """And vocabulary in twelve languages and more."""
    assert len(LISTS) >= 40
    assert len(VOCABULARY) >= 12


@pytest.mark.parametrize(
    ("about", "region", "phone", "columns"), LISTS, ids=[each[0] for each in LISTS]
)
def test_a_public_list_holds_nobody(lead_file, about, region, phone, columns):
    """0 of its records are held, and 0 for ever."""
    text = csv_of(columns, numbers(region, ROWS, seed=len(about)), phone)
    cleaned = leads.clean(lead_file(text), region=region)

    held = cleaned.do_not_call[["_field", "_value", "_reason"]].drop_duplicates()
    assert held.to_numpy().tolist() == []
    assert cleaned.counts["clean"] == ROWS


@pytest.mark.parametrize("language", VOCABULARY)
def test_vocabulary_is_no_refusal_in_any_column_but_one_of_notes(language):
    """Names, firms, trades and places."""
    held = [
        (header, text)
        for text in VOCABULARY[language]
        for header in ("Name", "Company", "Category", "Region", "Interest", "column_7")
        if phrase_in(header, text)
    ]
    assert held == []


def test_a_pattern_of_one_script_has_no_piece_of_another():
    """No form of a language without blanks has a bare Latin piece: it is found in German words."""
    for name, table in opt_outs.text.read_table("phrases.toml").items():
        if table["script"] in ("latin", "cyrillic"):
            continue
        assert opt_outs.find_phrase(f"tel ng dm call no {name}") is None


@pytest.mark.parametrize("region", [
    *("US", "DE", "FR", "NL", "ZA", "CA", "GB", "ES", "IT", "BR"),
    *("MX", "IN", "AU", "JP", "SE", "PT", "BE", "CH", "AT", "IE"),
])  # fmt: skip
def test_a_list_of_one_area_code_is_taken_in_its_region(lead_file, region):
    """Thirty rows; a wrong region is refused or said with its share."""
    example = phonenumbers.example_number_for_type(region, phonenumbers.PhoneNumberType.FIXED_LINE)
    draw, phones = random.Random(region), {}
    while len(phones) < 30:
        digits = str(example.national_number)[:-4] + f"{draw.randrange(10**4):04}"
        zero = "0" * (example.number_of_leading_zeros or 1) if example.italian_leading_zero else ""
        number = phonenumbers.parse(f"+{example.country_code}{zero}{digits}")
        if phonenumbers.is_valid_number(number):
            form = phonenumbers.PhoneNumberFormat.NATIONAL
            phones[phonenumbers.format_number(number, form)] = None
    text = "id,phone\n" + "".join(f'{at},"{number}"\n' for at, number in enumerate(phones))
    file = lead_file(text)
    right = leads.decide_region(file, region)

    assert right.against is None
    assert right.fit >= 0.9
    for wrong in ("US", "PK"):
        decision = leads.decide_region(file, wrong)
        refused = decision.against is not None
        assert refused or f"{decision.fit:.0%} of them fit its plan" in decision.in_words()
        assert f"--region {region}" not in (decision.against or "") or region == wrong
