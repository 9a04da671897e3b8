"""Lists of contacts of forty countries, made with numbers near the examples of their plans."""

from __future__ import annotations

import random
from typing import Final, NamedTuple

import phonenumbers
from phonenumbers import PhoneNumberFormat, PhoneNumberType


class Country(NamedTuple):
    """How lists of a country look.

    Attributes:
        headers: Name, mobile, landline, mail, city.
        cities: Some of its cities.
        domain: Ending of its mail domains.
    """

    headers: tuple[str, str, str, str, str]
    cities: tuple[str, ...]
    domain: str


_ES = ("Nombre completo", "Celular", "Teléfono casa", "Correo", "Ciudad")
_EN = ("Name", "Mobile", "Phone", "Email", "City")
COUNTRIES: Final = {
    "CO": Country(_ES, ("Bogotá", "Medellín", "Cali"), "com.co"),
    "MX": Country(_ES, ("Guadalajara", "Monterrey", "Puebla"), "com.mx"),
    "AR": Country(_ES, ("Rosario", "Mendoza", "La Plata"), "com.ar"),
    "CL": Country(_ES, ("Santiago", "Valparaíso", "Temuco"), "cl"),
    "PE": Country(_ES, ("Lima", "Arequipa", "Cusco"), "pe"),
    "EC": Country(_ES, ("Quito", "Guayaquil", "Loja"), "ec"),
    "ES": Country(
        ("Nombre", "Móvil", "Teléfono fijo", "Correo", "Población"),
        ("Madrid", "Sevilla", "Bilbao"),
        "es",
    ),
    "PT": Country(
        ("Nome", "Telemóvel", "Telefone", "Email", "Localidade"),
        ("Lisboa", "Porto", "Braga"),
        "pt",
    ),
    "BR": Country(
        ("Nome", "Celular", "Telefone", "E-mail", "Cidade"),
        ("São Paulo", "Curitiba", "Recife"),
        "com.br",
    ),
    "FR": Country(
        ("Nom", "Portable", "Téléphone", "Courriel", "Ville"), ("Lyon", "Nantes", "Lille"), "fr"
    ),
    "BE": Country(
        ("Naam", "Mobiel", "Telefoon", "E-mail", "Plaats"), ("Antwerpen", "Gent", "Leuven"), "be"
    ),
    "NL": Country(
        ("Naam", "Mobiel", "Telefoon", "E-mail", "Woonplaats"),
        ("Utrecht", "Breda", "Zwolle"),
        "nl",
    ),
    "DE": Country(
        ("Nachname", "Handy", "Telefon", "E-Mail", "Ort"), ("Hamburg", "Köln", "Leipzig"), "de"
    ),
    "AT": Country(
        ("Nachname", "Handy", "Telefon", "E-Mail", "Ort"), ("Wien", "Graz", "Linz"), "at"
    ),
    "CH": Country(
        ("Nachname", "Handy", "Telefon", "E-Mail", "Ort"), ("Zürich", "Luzern", "Winterthur"), "ch"
    ),
    "IT": Country(
        ("Cognome", "Cellulare", "Telefono", "E-mail", "Comune"),
        ("Milano", "Napoli", "Torino"),
        "it",
    ),
    "GB": Country(_EN, ("Leeds", "Cardiff", "Glasgow"), "co.uk"),
    "IE": Country(_EN, ("Dublin", "Galway", "Limerick"), "ie"),
    "DK": Country(
        ("Navn", "Mobil", "Telefon", "E-mail", "By"), ("Aarhus", "Odense", "Aalborg"), "dk"
    ),
    "SE": Country(
        ("Namn", "Mobil", "Telefon", "E-post", "Ort"), ("Göteborg", "Malmö", "Uppsala"), "se"
    ),
    "NO": Country(
        ("Navn", "Mobil", "Telefon", "E-post", "Poststed"), ("Oslo", "Bergen", "Trondheim"), "no"
    ),
    "FI": Country(
        ("Nimi", "Matkapuhelin", "Puhelin", "Email", "Kaupunki"),
        ("Helsinki", "Espoo", "Oulu"),
        "fi",
    ),
    "PL": Country(
        ("Nazwisko", "Telefon komórkowy", "Telefon", "E-mail", "Miasto"),
        ("Kraków", "Gdańsk", "Łódź"),
        "pl",
    ),
    "CZ": Country(
        ("Příjmení", "Mobil", "Telefon", "E-mail", "Město"), ("Brno", "Ostrava", "Plzeň"), "cz"
    ),
    "HU": Country(
        ("Név", "Mobil", "Telefon", "E-mail", "Város"), ("Budapest", "Szeged", "Pécs"), "hu"
    ),
    "RO": Country(
        ("Nume", "Mobil", "Telefon", "E-mail", "Oraș"), ("București", "Iași", "Sibiu"), "ro"
    ),
    "GR": Country(
        ("Όνομα", "Κινητό", "Τηλέφωνο", "Email", "Πόλη"), ("Αθήνα", "Πάτρα", "Λάρισα"), "gr"
    ),
    "TR": Country(
        ("Adı Soyadı", "Cep", "Telefon", "E-posta", "İl"), ("Ankara", "Bursa", "Konya"), "com.tr"
    ),
    "RU": Country(
        ("ФИО", "Мобильный", "Телефон", "Почта", "Город"), ("Казань", "Самара", "Пермь"), "ru"
    ),
    "JP": Country(
        ("氏名", "携帯電話", "電話番号", "メール", "都道府県"),
        ("東京都", "大阪府", "愛知県"),
        "co.jp",
    ),
    "KR": Country(
        ("이름", "휴대폰", "전화번호", "이메일", "도시"), ("서울", "부산", "대구"), "co.kr"
    ),
    "IN": Country(_EN, ("Mumbai", "Pune", "Jaipur"), "co.in"),
    "PH": Country(_EN, ("Makati", "Quezon City", "Cebu"), "com.ph"),
    "ID": Country(
        ("Nama", "HP", "Telepon", "Email", "Kota"), ("Jakarta", "Bandung", "Medan"), "co.id"
    ),
    "MY": Country(_EN, ("Kuala Lumpur", "Ipoh", "Shah Alam"), "com.my"),
    "SG": Country(_EN, ("Jurong", "Tampines", "Bedok"), "com.sg"),
    "AU": Country(_EN, ("Brisbane", "Adelaide", "Perth"), "com.au"),
    "NZ": Country(_EN, ("Auckland", "Dunedin", "Tauranga"), "co.nz"),
    "ZA": Country(_EN, ("Durban", "Pretoria", "Soweto"), "co.za"),
    "NG": Country(_EN, ("Lagos", "Abuja", "Kano"), "com.ng"),
}


def numbers(region: str, count: int, kind: int, rng: random.Random) -> list[str]:
    """National numbers that differ from the example of the plan in their last digits."""
    example = phonenumbers.example_number_for_type(region, kind)
    assert example is not None
    base = str(example.national_number)
    found: list[str] = []
    while len(found) < count:
        digits = base[:-4] + f"{rng.randrange(10_000):04}"
        number = phonenumbers.PhoneNumber(
            country_code=example.country_code,
            national_number=int(digits),
            italian_leading_zero=example.italian_leading_zero,
        )
        if phonenumbers.is_valid_number(number):
            found.append(phonenumbers.format_number(number, PhoneNumberFormat.NATIONAL))
    return found


def national_list(region: str, rows: int = 40) -> str:
    """A list of the country as CSV: names, both kinds of numbers, mails, cities."""
    rng = random.Random(region)
    country = COUNTRIES[region]
    mobiles = numbers(region, rows, PhoneNumberType.MOBILE, rng)
    fixed = numbers(region, rows, PhoneNumberType.FIXED_LINE, rng)
    lines = [";".join(country.headers)]
    for at in range(rows):
        mail = f"contact{at}@{rng.choice(('firma', 'shop', 'mail'))}{at}.{country.domain}"
        cells = (
            f"Kim Lee {chr(65 + at % 26)}",
            mobiles[at],
            fixed[at],
            mail,
            rng.choice(country.cities),
        )
        lines.append(";".join(cells))
    return "\n".join(lines) + "\n"


def bare_list(region: str, rows: int = 40) -> str:
    """The same with English headers and nothing but names and mobile numbers."""
    rng = random.Random(region)
    mobiles = numbers(region, rows, PhoneNumberType.MOBILE, rng)
    lines = [f"Kim Lee {chr(65 + at % 26)};{number}" for at, number in enumerate(mobiles)]
    return "\n".join(["Name;Phone", *lines]) + "\n"
