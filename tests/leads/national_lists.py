"""Lists of contacts of forty countries as firms there write them, with the E.164 of every record."""

from __future__ import annotations

import random
from functools import cache
from typing import Final, NamedTuple

import phonenumbers
from phonenumbers import PhoneNumberFormat, PhoneNumberType

#: Country; headers (reference, first name, last name, street, post code, city, mobile, landline,
#: mail; `-` where lists there have none); streets; post codes; cities; ending of mail domains; how
#: numbers are written: `n` national, `d` digits alone, `z` without the trunk zero as a spreadsheet
#: leaves them, `i` every fourth with its country code.
_TABLE: Final = """
CO | Código;Nombres;Apellidos;Dirección;-;Ciudad;Celular;Teléfono casa;Correo | Calle 72 # 10-34/Carrera 15 # 93-60 | - | Bogotá/Medellín/Cali | com.co | d
MX | Folio;Nombre;Apellido paterno;Calle y número;C.P.;Municipio;Celular;Teléfono;Correo electrónico | Av. Juárez 120/Calle Morelos 45 | 44100/64000/72000 | Guadalajara/Monterrey/Puebla | com.mx | n
AR | Nro;Nombre;Apellido;Domicilio;Código postal;Localidad;Celular;Teléfono;Mail | San Martín 1234/Belgrano 560 | S2000/M5500/B1900 | Rosario/Mendoza/La Plata | com.ar | n
CL | RUT;Nombres;Apellidos;Dirección;-;Comuna;Celular;Teléfono fijo;Correo | Av. Providencia 1550/Los Leones 220 | - | Providencia/Valparaíso/Temuco | cl | n
PE | DNI;Nombres;Apellidos;Dirección;-;Distrito;Celular;Teléfono;Correo | Jr. de la Unión 300/Av. Arequipa 1200 | - | Lima/Arequipa/Cusco | pe | d
EC | Cédula;Nombres;Apellidos;Dirección;-;Ciudad;Celular;Teléfono;Correo | Av. Amazonas N24/Calle Larga 7 | - | Quito/Guayaquil/Loja | ec | n
ES | Ref.;Nombre;Apellidos;Dirección;Código Postal;Población;Móvil;Teléfono fijo;Correo electrónico | C/ Alcalá 45/Avda. de la Paz 3 | 28001/41001/48001 | Madrid/Sevilla/Bilbao | es | n
PT | N.º cliente;Nome;Apelido;Morada;Código Postal;Localidade;Telemóvel;Telefone;E-mail | Rua Augusta 100/Av. da Liberdade 20 | 1100-053/4000-322/4700-320 | Lisboa/Porto/Braga | pt | d
BR | CPF;Nome;Sobrenome;Endereço;CEP;Cidade;Celular;Telefone;E-mail | Rua das Flores 123/Av. Paulista 900 | 01310-100/80010-000/50030-230 | São Paulo/Curitiba/Recife | com.br | n
FR | N° client;Prénom;Nom;Adresse;Code postal;Ville;Portable;Téléphone fixe;Courriel | 12 rue de la République/3 place Bellecour | 69001/44000/59000 | Lyon/Nantes/Lille | fr | n
BE | Klantnr;Voornaam;Naam;Adres;Postcode;Gemeente;GSM;Telefoon;E-mail | Kerkstraat 12/Meir 50 | 2000/9000/3000 | Antwerpen/Gent/Leuven | be | n
NL | Klantnummer;Voornaam;Achternaam;Straat + nr;Postcode;Woonplaats;Mobiel;Telefoon;E-mailadres | Dorpsstraat 1/Oudegracht 33 | 3511 AB/4811 DG/8011 CX | Utrecht/Breda/Zwolle | nl | d
DE | Kundennr.;Vorname;Nachname;Straße;PLZ;Ort;Handy;Telefon;E-Mail | Hauptstr. 5/Bahnhofstraße 17 | 20095/50667/04109 | Hamburg/Köln/Leipzig | de | n
AT | Kd-Nr;Vorname;Familienname;Anschrift;PLZ;Ort;Mobil;Festnetz;E-Mail | Ringstraße 4/Herrengasse 9 | 1010/8010/4020 | Wien/Graz/Linz | at | n
CH | Kunden-Nr.;Vorname;Name;Strasse;PLZ;Ort;Natel;Telefon;E-Mail | Bahnhofstrasse 10/Langstrasse 3 | 8001/6003/8400 | Zürich/Luzern/Winterthur | ch | n
IT | Codice;Nome;Cognome;Indirizzo;CAP;Comune;Cellulare;Telefono;E-mail | Via Roma 10/Corso Italia 22 | 20121/80133/10121 | Milano/Napoli/Torino | it | n
GB | Ref;First Name;Surname;Address Line 1;Postcode;Town;Mobile;Landline;Email | 12 High Street/Flat 3, 8 Park Row | LS1 4AP/CF10 1EP/G2 1DY | Leeds/Cardiff/Glasgow | co.uk | z
IE | Ref;First Name;Surname;Address;Eircode;County;Mobile;Phone;Email | 4 Main Street/The Quay | D02 AF30/H91 E2R8/V94 T9PX | Dublin/Galway/Limerick | ie | n
DK | Kundenr.;Fornavn;Efternavn;Adresse;Postnr.;By;Mobil;Telefon;E-mail | Vestergade 5/Nørregade 8 | 8000/5000/9000 | Aarhus/Odense/Aalborg | dk | n
SE | Kundnr;Förnamn;Efternamn;Gatuadress;Postnummer;Ort;Mobil;Telefon;E-post | Storgatan 1/Kungsgatan 22 | 411 19/211 22/753 10 | Göteborg/Malmö/Uppsala | se | n
NO | Kundenr;Fornavn;Etternavn;Adresse;Postnr;Poststed;Mobil;Telefon;E-post | Storgata 3/Torggata 7 | 0155/5003/7010 | Oslo/Bergen/Trondheim | no | d
FI | Asiakasnro;Etunimi;Sukunimi;Katuosoite;Postinumero;Kaupunki;Matkapuhelin;Puhelin;Sähköposti | Mannerheimintie 4/Hämeenkatu 9 | 00100/02100/90100 | Helsinki/Espoo/Oulu | fi | n
PL | Lp.;Imię;Nazwisko;Ulica;Kod pocztowy;Miejscowość;Tel. komórkowy;Telefon stacjonarny;E-mail | ul. Długa 5/ul. Polna 12 | 31-147/80-831/90-001 | Kraków/Gdańsk/Łódź | pl | d
CZ | Č. zákazníka;Jméno;Příjmení;Ulice;PSČ;Město;Mobil;Telefon;E-mail | Masarykova 10/Nádražní 4 | 602 00/702 00/301 00 | Brno/Ostrava/Plzeň | cz | n
HU | Sorszám;Vezetéknév;Keresztnév;Cím;Irányítószám;Város;Mobil;Telefon;E-mail | Kossuth u. 3/Petőfi tér 1 | 1051/6720/7621 | Budapest/Szeged/Pécs | hu | n
RO | Cod client;Prenume;Nume;Adresa;Cod poștal;Localitate;Mobil;Telefon fix;E-mail | Str. Unirii 4/Bd. Carol 10 | 010011/700028/550024 | București/Iași/Sibiu | ro | d
GR | Κωδικός;Όνομα;Επώνυμο;Διεύθυνση;ΤΚ;Πόλη;Κινητό;Τηλέφωνο;Email | Ερμού 12/Αθηνάς 3 | 105 63/262 21/412 22 | Αθήνα/Πάτρα/Λάρισα | gr | d
TR | Müşteri No;Adı;Soyadı;Adres;Posta Kodu;İl;Cep;Telefon;E-posta | Atatürk Cad. 5/Cumhuriyet Sok. 9 | 06420/16010/42030 | Ankara/Bursa/Konya | com.tr | n
RU | №;Имя;Фамилия;Адрес;Индекс;Город;Мобильный;Телефон;Почта | ул. Ленина, 5/пр. Мира, 12 | 420111/443001/614000 | Казань/Самара/Пермь | ru | n
JP | 顧客番号;名;姓;住所;郵便番号;都道府県;携帯電話;電話番号;メール | 千代田1-1/中央区2-3 | 100-0001/530-0001/460-0008 | 東京都/大阪府/愛知県 | co.jp | n
KR | 고객번호;이름;성;주소;우편번호;도시;휴대폰;전화번호;이메일 | 세종대로 110/중앙대로 20 | 04524/48943/41911 | 서울/부산/대구 | co.kr | n
IN | S.No;First Name;Last Name;Address;Pincode;City;Mobile No;Phone No;Email ID | 14 MG Road/B-22 Sector 5 | 400001/411001/302001 | Mumbai/Pune/Jaipur | co.in | d
PH | No.;First Name;Last Name;Barangay;ZIP;City;Mobile;Landline;Email | Brgy. San Lorenzo/Brgy. Poblacion | 1223/1100/6000 | Makati/Quezon City/Cebu | com.ph | n
ID | No;Nama;Perusahaan;Alamat;Kode Pos;Kota;HP;Telepon;Email | Jl. Sudirman 5/Jl. Merdeka 10 | 10210/40111/20111 | Jakarta/Bandung/Medan | co.id | d
MY | No;Name;Company;Address;Poskod;Negeri;H/P;Tel;Email | 12 Jalan Ampang/Lot 5 Jalan Tun | 50450/30000/40000 | Kuala Lumpur/Ipoh/Shah Alam | com.my | n
SG | No;Name;Company;Address;Postal Code;Area;Mobile;Tel;Email | Blk 123 Ave 3 #04-56/8 Shenton Way | 640123/520201/460088 | Jurong/Tampines/Bedok | com.sg | d
AU | ID;First Name;Surname;Street Address;Postcode;Suburb;Mobile;Phone;Email | 12 George St/Unit 4, 9 King St | 4000/5000/6000 | Brisbane/Adelaide/Perth | com.au | z
NZ | ID;First Name;Surname;Street;Postcode;City;Mobile;Phone;Email | 5 Queen Street/18 Willis St | 1010/9016/3110 | Auckland/Dunedin/Tauranga | co.nz | n
ZA | Ref;Name;Surname;Address;Postal Code;Town;Cell;Tel;Email | 3 Long Street/14 Church St | 4001/0002/1804 | Durban/Pretoria/Soweto | co.za | z
NG | S/N;First Name;Surname;Address;-;City;Phone (mobile);Office line;Email | 5 Awolowo Road/12 Marina | - | Lagos/Abuja/Kano | com.ng | n
"""


class Country(NamedTuple):
    """How lists of a country look; see the table."""

    headers: tuple[str, ...]
    streets: tuple[str, ...]
    post_codes: tuple[str, ...]
    cities: tuple[str, ...]
    domain: str
    form: str


def _countries() -> dict[str, Country]:
    found = {}
    for line in _TABLE.strip().splitlines():
        region, headers, streets, codes, cities, domain, form = (
            part.strip() for part in line.split(" | ")
        )
        found[region] = Country(
            tuple(headers.split(";")),
            tuple(streets.split("/")),
            tuple(codes.split("/")),
            tuple(cities.split("/")),
            domain,
            form,
        )
    return found


COUNTRIES: Final = _countries()
_FIRST: Final = ("Kim", "Alex", "Robin", "Sam", "Noa")
_LAST: Final = ("Lee", "Marin", "Novak", "Costa", "Stein", "Park")


class MadeList(NamedTuple):
    """A list as text, and which numbers each of its records has.

    Attributes:
        text: The list as CSV, parted by semicolons.
        numbers: E.164 of each record, in order.
    """

    text: str
    numbers: tuple[frozenset[str], ...]

    @property
    def every(self) -> frozenset[str]:
        """Every number of the list."""
        return frozenset[str]().union(*self.numbers)


@cache
def numbers(region: str, count: int, kind: int) -> tuple[phonenumbers.PhoneNumber, ...]:
    """Numbers that differ from the example of the plan in their last digits."""
    rng = random.Random(f"{region}{kind}")
    example = phonenumbers.example_number_for_type(region, kind)
    assert example is not None
    base = str(example.national_number)
    found: list[phonenumbers.PhoneNumber] = []
    while len(found) < count:
        number = phonenumbers.PhoneNumber(
            country_code=example.country_code,
            national_number=int(base[:-4] + f"{rng.randrange(10_000):04}"),
            italian_leading_zero=example.italian_leading_zero,
        )
        if phonenumbers.is_valid_number(number):
            found.append(number)
    return tuple(found)


def _written(number: phonenumbers.PhoneNumber, form: str) -> str:
    """The number as lists of the country write it."""
    national = phonenumbers.format_number(number, PhoneNumberFormat.NATIONAL)
    if form == "n":
        return national
    digits = "".join(char for char in national if char.isdigit())
    return digits.removeprefix("0") if form == "z" else digits


def _e164(number: phonenumbers.PhoneNumber) -> str:
    return phonenumbers.format_number(number, PhoneNumberFormat.E164)


@cache
def made_list(region: str, rows: int = 40) -> MadeList:
    """A list of the country: names, address, both kinds of numbers, mails."""
    rng = random.Random(region)
    country = COUNTRIES[region]
    shown = [at for at, header in enumerate(country.headers) if header != "-"]
    mobiles = numbers(region, rows, PhoneNumberType.MOBILE)
    fixed = numbers(region, rows, PhoneNumberType.FIXED_LINE)
    lines = [";".join(country.headers[at] for at in shown)]
    for at in range(rows):
        first, last = _FIRST[at % len(_FIRST)], _LAST[at % len(_LAST)]
        cells = (
            f"{region}-{1000 + 7 * at}",
            first,
            last,
            rng.choice(country.streets),
            rng.choice(country.post_codes),
            rng.choice(country.cities),
            _written(mobiles[at], country.form),
            _written(fixed[at], country.form),
            f"{first.lower()}.{last.lower()}{at}@{rng.choice(('firma', 'shop', 'mail'))}{at}."
            + country.domain,
        )
        lines.append(";".join(cells[each] for each in shown))
    every = tuple(
        frozenset({_e164(mobile), _e164(line)})
        for mobile, line in zip(mobiles, fixed, strict=True)
    )
    return MadeList("\n".join(lines) + "\n", every)


@cache
def made_bare(region: str, rows: int = 40, form: str = "n", names: bool = True) -> MadeList:
    """English headers and nothing but mobile numbers, with names or without."""
    mobiles = numbers(region, rows, PhoneNumberType.MOBILE)
    cells = [_written(mobile, form) for mobile in mobiles]
    lines = [
        f"Kim Lee {chr(65 + at % 26)};{cell}" if names else cell for at, cell in enumerate(cells)
    ]
    header = "Name;Phone" if names else "Phone"
    return MadeList(
        "\n".join([header, *lines]) + "\n", tuple(frozenset({_e164(each)}) for each in mobiles)
    )


def national_list(region: str, rows: int = 40) -> str:
    """A list of the country as text."""
    return made_list(region, rows).text


def bare_list(region: str, rows: int = 40) -> str:
    """A list of names and numbers alone as text."""
    return made_bare(region, rows).text
