"""The country of numbers without a country code: given, in the records, inferred beyond doubt, or asked for."""

from __future__ import annotations

from functools import cache

import phonenumbers
import pytest

from dialframe import leads, phones
from dialframe.errors import LeadFileError
from dialframe.leads.columns.list_region import column_doubts, decide_region
from leads.national_lists import COUNTRIES, bare_list, made_bare, national_list
from leads.tables import table

CODE = phonenumbers.country_code_for_region


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    """Read a text once for all that ask about it."""
    folder = tmp_path_factory.mktemp("lists")

    @cache
    def once(region, text):
        path = folder / f"{region}.csv"
        path.write_text(text, encoding="utf-8")
        return leads.read(path)

    return once


@pytest.fixture(scope="module")
def lists(read):
    """The list of every country, with its columns."""
    files = {region: read(region, national_list(region, 12)) for region in COUNTRIES}
    return {
        region: (file, leads.map_columns(file, region=region)) for region, file in files.items()
    }


def test_both_phones_of_every_national_list_are_found(lists):
    """And its post codes are no phones, whatever they are called (`CEP`)."""
    headers = {region: country.headers for region, country in COUNTRIES.items()}

    assert {region: set(columns.phone) for region, (_, columns) in lists.items()} == {
        region: {headers[region][6], headers[region][7]} for region in COUNTRIES
    }


def test_a_national_list_says_its_country(lists):
    """By its cities, mail domains, post codes and language, each named with its share."""
    decisions = {
        region: decide_region(file, None, columns) for region, (file, columns) in lists.items()
    }

    assert {one.source for one in decisions.values()} == {"inferred"}
    assert all(CODE(one.region) == CODE(region) for region, one in decisions.items())
    assert all("%" in one.in_words() for one in decisions.values())


@pytest.mark.parametrize("wrong", ["US", "DE", "IN"])
def test_a_list_that_speaks_against_the_given_region_is_refused(lists, wrong):
    """Unless somebody insists."""
    for region in list(COUNTRIES)[:: 1 if wrong == "US" else 4]:
        if CODE(region) == CODE(wrong):
            continue
        file, columns = lists[region]
        decision = decide_region(file, wrong, columns)

        with pytest.raises(LeadFileError, match="--force-region"):
            decision.settled()
        assert decision.settled(force=True) == wrong


def test_the_library_refuses_what_the_command_refuses(lists, tmp_path):
    """`clean` and `clean_files` say why, write nothing, and take the region of who insists."""
    file, columns = lists["CO"]
    said = decide_region(file, "US", columns).why()
    out = tmp_path / "out"

    with pytest.raises(LeadFileError) as of_frames:
        leads.clean(file, region="US")
    with pytest.raises(LeadFileError) as of_paths:
        leads.clean_files([file.path], out, region="US")

    assert str(of_frames.value) == str(of_paths.value) == said
    assert not out.exists() or not list(out.iterdir())
    assert leads.clean(file, region="CO").counts["clean"] > 0
    assert leads.clean(file, region="US", force_region=True).region == "US"
    forced = leads.clean_files([file.path], out, region="US", force_region=True)
    assert forced.files[0].region_decision.against == said


def test_the_right_region_is_taken_without_a_word(lists, read):
    """Whatever else the list holds; of numbers alone, where no other plan fits them as well."""
    for region, (file, columns) in lists.items():
        assert decide_region(file, region, columns).settled() == region

    decisions = {
        region: decide_region(read(region, bare_list(region)), region) for region in COUNTRIES
    }
    # Numbers of one prefix: 912 is one of mobile numbers in Peru, Chile and Portugal, 601 in Czechia
    # and Poland, 010 in Korea and China.
    in_doubt = {region for region, one in decisions.items() if one.against is not None}
    assert in_doubt <= {"CO", "CH", "ZA", "PE", "IT", "NO", "PT", "CZ", "PL", "KR", "EC"}


def test_numbers_alone_never_choose_a_wrong_country(read):
    """Most plans fit others' numbers, so a list of names and numbers is asked about."""
    for region in COUNTRIES:
        decision = decide_region(read(region, bare_list(region)))

        assert decision.region is None or CODE(decision.region) == CODE(region)
        if decision.is_open:
            with pytest.raises(LeadFileError, match="--region"):
                decision.settled()


@pytest.mark.parametrize("wrong", ["US", "BR", "IN"])
@pytest.mark.parametrize("names", [True, False], ids=["names", "numbers alone"])
def test_a_bare_list_that_hardly_fits_the_given_region_is_refused(read, wrong, names):
    """Which plans fit is evidence: only a list that fits the given plan as well may be of it."""
    for region in COUNTRIES:
        if CODE(region) == CODE(wrong):
            continue
        file = read(region, made_bare(region, 12, names=names).text)
        decision = decide_region(file, wrong)

        if decision.against is None:
            fit = phones.normalize(file.frame["Phone"], region=wrong)["valid"].mean()
            assert fit > 0.6, region
        else:
            assert "--force-region" in decision.against


@pytest.mark.parametrize("written", [
    "{0}", "{0}.0", "{0[0]}.{1}E+09", "=\"{0}\"", "Cel: {0}", "{0} (oficina)", "{0} / {2}", "{0}; {2}", "{0} ext 12",
], ids=lambda written: written)  # fmt: skip
def test_however_a_number_is_written_it_speaks_against_a_wrong_region(lead_file, written):
    """What is read as a number later is looked at before: a spreadsheet's form, a label, one of two."""
    numbers = [f"{310 + at % 11}{5550141 + at * 37129}" for at in range(20)]
    others = [f"{300 + at % 6}{6550141 + at * 27143}" for at in range(20)]
    cells = [
        written.format(number, number[1:], other).replace('"', '""')
        for number, other in zip(numbers, others, strict=True)
    ]
    file = lead_file("ID,Phone\n" + "".join(f'{at},"{cell}"\n' for at, cell in enumerate(cells)))

    assert decide_region(file, "US").against is not None
    assert decide_region(file, "CO").against is None


@pytest.mark.parametrize("made", table("region_lists")["lists"], ids=lambda made: made["about"])
def test_what_a_list_says_of_its_country(lead_file, made):
    """Given, inferred beyond doubt, said by the records, or open; see the table."""
    file = lead_file(made["text"])
    columns = leads.map_columns(file, region=None) if "mapped" in made else None

    for region in made.get("right", ()):
        assert decide_region(file, region, columns).settled() == region
    for region in made.get("wrong", ()):
        decision = decide_region(file, region, columns)
        with pytest.raises(LeadFileError, match="--force-region") as refusal:
            decision.settled()
        assert made.get("named", "") in str(refusal.value)
        assert decision.settled(force=True) == region
        assert "candidate" not in made or made["candidate"] in {
            candidate.region for candidate in decision.candidates
        }
    if "right" not in made and "wrong" not in made:
        decision = decide_region(file, None, columns)
        assert decision.is_open == made.get("open", False)
        assert decision.region == made.get("inferred")
        assert (decision.source == "records") == made.get("records", False)


def test_a_region_that_nothing_but_the_word_says_is_said_to_be_one(lead_file):
    """One number is a number of many countries; a list of some is not told so."""
    one = lead_file("ID,Phone\n1,0748270140\n")
    many = "".join(f"{at},07{at % 5 + 10}5550{at:02}\n" for at in range(20))

    assert "LOOK AT THIS, it may be of" in decide_region(one, "KE").in_words()
    assert decide_region(lead_file(f"ID,Phone\n{many}"), "KE").in_words() == "Kenya (KE) as given"
    assert decide_region(lead_file("Phone\n+254712555001\n"), "KE").in_words().endswith("given")


def test_the_refusal_names_the_best_candidates(read):
    """With the share of the numbers that are valid there, and an option that works."""
    decision = decide_region(read("CO", bare_list("CO")))

    assert decision.is_open
    assert "100% of the numbers" in decision.why()
    assert decision.to_dict()["source"] == "open"


@pytest.mark.parametrize(("region", "text", "read"), [
    # Ostfriesland without its 0, or a mobile number whose `+` was dropped.
    ("DE", "Name,Phone\nAnn,4915123456789\nBob,0151 23456789\nCy,+4915123456789\n", 2),
    ("ID", "Name,Phone\nAnn,62812345678\nBob,0812-345-678\n", 1),
    ("US", "Name,Phone\nAnn,12015550123\nBob,2015550123\n", 2),
    # Martinique and Mayotte have codes of their own.
    ("FR", "Prénom,Téléphone\nAnne,0596 30 12 34\nBruno,0269 60 12 34\nChloé,01 42 34 56 78\n", 1),
    # Delaware or Germany, California or Canada.
    ("US", "Name,State/Country,Phone\nAnn,DE,(201) 555-0123\nBob,USA,(201) 555-0123\n", 1),
])  # fmt: skip
def test_a_number_of_two_countries_is_not_dialed(lead_file, region, text, read):
    """Nobody can know which is meant."""
    cleaned = leads.clean(lead_file(text), region=region, policy=leads.Policy())
    doubtful = cleaned.rejected["_reason"].tolist()

    assert len(cleaned.clean) + len(cleaned.duplicates) == read
    assert set(doubtful) <= {"phone_ambiguous_region"}
    assert len(doubtful) == text.count("\n") - 1 - read


def test_empty_countries_whose_numbers_are_of_another_plan_are_held(lead_file):
    """Those without a country all fit the United States, and those of Mexico do not."""
    mexican, american = ("811", "999", "871", "222"), ("312", "313", "314", "331")
    rows = [f"Ana,Mexico,{area}12345{at:02}" for at, area in enumerate(mexican * 5)]
    rows += [f"Bob,,{area}55501{at:02}" for at, area in enumerate(american * 2)]
    text = "\n".join(["Name,Country,Phone", *rows])

    assert set(leads.clean(lead_file(text), region="MX").clean["full_name"]) == {"Ana"}


@pytest.mark.parametrize(("region", "kept", "held"), [
    ("IT", ["02 2345678", "333 1234567", "800 123456"], ["5512345", "81234567"]),
    ("DE", ["030 2345678", "0171 1234567", "1711234568"], ["8765431", "30 2345679"]),
    ("EG", ["02 23456789", "010 12345678"], ["35123456"]),
    ("GB", ["020 7946 0018", "07912 341768", "7912341769"], []),
])  # fmt: skip
def test_a_local_number_beside_numbers_with_their_zero_is_held(lead_file, region, kept, held):
    """Without its area it is a number of another town; a mobile number is whole without its zero."""
    city = {"IT": "Roma", "DE": "Berlin", "EG": "Cairo", "GB": "London"}[region]
    rows = "".join(f"Kim {at},{city},{cell}\n" for at, cell in enumerate([*kept, *held]))
    cleaned = leads.clean(lead_file(f"Name,City,Phone\n{rows}"), region=region)

    assert len(cleaned.clean) == len(kept)
    assert set(cleaned.rejected["_reason"]) <= {"phone_ambiguous_region"}
    alone = "".join(f"Kim {at},{cell}\n" for at, cell in enumerate(held))
    if region == "DE":  # a list whose writers leave the zero out keeps its numbers
        without_zeros = lead_file(f"Vorname,Telefon\n{alone}")
        assert len(leads.clean(without_zeros, region=region).clean) == len(held)


def test_a_long_list_of_two_kinds_of_rows_in_turn_shows_both(lead_file):
    """Every second number without its zero, however the rows are sampled."""
    rows = "".join(f"Kim,{'030 ' if at % 2 else ''}{2345678 + 11 * at}\n" for at in range(3000))
    columns = leads.map_columns(lead_file(f"Name,Phone\n{rows}"), region="DE")

    assert column_doubts(lead_file(f"Name,Phone\n{rows}").frame, columns)["Phone"].keeps_zero


#: Country; names of people; a city; mobile numbers and landlines of one area as people write them, a
#: digit by `#`; regions that are given by mistake and whose plans have some of them.
_PEOPLE = """
CO | Yesenia Restrepo/Jhon Zuluaga/Leidy Ospina | Bucaramanga | 310 55501## | 60455501## | US PK IT
MX | Ximena Juárez/Rogelio Vázquez/Itzel Hernández | Zapopan | 33 5555 01## | 55555501## | US TR CN
PL | Kinga Wiśniewska/Bartosz Wójcik/Szymon Lewandowski | Kraków | 501 555 0## | 22 555 50 ## | ES RS GB
NL | Jelle Mulder/Merel de Vries/Thijs Visser | Zwolle | 06 555501## | 020 555 01## | FR ZA IT
FI | Päivi Lahtinen/Teemu Karjalainen/Kaisa Savolainen | Tampere | 040 55501## | 09 55501## | DE SE GB
CZ | Zdeňka Dvořáková/Vojtěch Procházka/Libor Černý | Olomouc | 601 555 0## | 2245550## | PL ES RS
IN | Swati Deshmukh/Girish Iyer/Pallavi Kulkarni | Nagpur | 98205 550## | 022 2655 50## | US TR DE
PK | Sidra Bhatti/Waseem Qureshi/Hina Aslam | Lahore | 0300 55501## | 042 355550## | GB IT US
KE | Wanjiru Kamau/Kiprotich Koech/Achieng Otieno | Nairobi | 0722 5550## | 020 55501## | AU RO GB
VN | Nguyễn Thảo/Trần Quang/Phạm Hải | Hải Phòng | 091 555 01 ## | 024 3555 50## | EC TW PE
TR | Gökhan Şimşek/Pınar Yıldız/Tolga Aydın | Bursa | 0532 555 01 ## | 0212 555 01 ## | PK IN DE
BR | João Ferreira/Thiago Carvalho/Letícia Gonçalves | Curitiba | 41 95555-01## | 1155550### | IT DE AT
"""


@pytest.mark.parametrize("line", _PEOPLE.strip().splitlines(), ids=lambda line: line[:2])
def test_no_wrong_number_of_any_size_of_list_is_accepted(lead_file, line):
    """One record, three or forty, with names or a city too, mobile or of one area; the right one passes."""
    right, names, city, *patterns, wrong = (part.strip() for part in line.split(" | "))
    people = names.split("/")
    lists = [
        (rows, shape, pattern)
        for rows, shape in ((1, "Name,City,Phone"), (3, "Name,Phone"), (40, "Name,Phone"))
        for pattern in patterns
    ]
    for rows, shape, pattern in lists:
        size = pattern.count("#")
        lines = [
            f"{people[at % 3]},{city + ',' if 'City' in shape else ''}"
            f"{pattern.replace('#' * size, f'{at:0{size}}')}"
            for at in range(rows)
        ]
        file = lead_file("\n".join([shape, *lines]) + "\n")

        assert decide_region(file, right).against is None, (right, rows, pattern)
        for region in wrong.split():
            if decide_region(file, region).against is None:
                numbers = phones.normalize(file.frame["Phone"], region=region)
                assert not numbers["valid"].any(), (region, rows, pattern)


def test_a_country_that_nobody_confuses_needs_no_proof(lead_file):
    """Digits of Hong Kong are likelier numbers of Guatemala, whose lists nobody says to be of there."""
    text = "".join(f"2{3_000_000 + at * 123_457 % 1_999_999}\n" for at in range(60))
    decision = decide_region(lead_file(f"Phone\n{text}"), "HK")
    likely = {one.region: one.likely for one in decision.candidates}

    assert decision.settled() == "HK"
    assert decide_region(lead_file(f"Phone\n{text}")).is_open
    assert likely["GT"] > likely["HK"] - 6


def test_names_of_people_are_no_places(lead_file):
    """Colombo is a name in Italy, and Paris one in many countries."""
    names = ("Colombo", "Rossi", "Colombo", "Bianchi", "Colombo", "Esposito")
    text = "".join(f"Luca,{name},081 775 41{at:02}\n" for at, name in enumerate(names))
    weights = {
        one.region: one.evidence
        for one in decide_region(lead_file(f"First,Last,Phone\n{text}"), "IT").candidates
    }

    assert not any("places" in words for words in weights.get("LK", ()))


@pytest.mark.parametrize(("region", "cell"), [
    ("CH", "06625008588"),  # Salzburg, and no Thailand
    ("AT", "0440 9988 77665"),
    ("RO", "06709016596"),  # Hungary, and no Timor
    ("GH", "02030104581"),
    ("US", "0114930369"),  # Johannesburg, and no Germany behind 011
])  # fmt: skip
def test_no_zero_is_put_before_a_zero(lead_file, region, cell):
    """What a spreadsheet took is one zero at the beginning; two of them would dial abroad."""
    text = f"Name,Phone\nKim,{cell}\nLee,{cell[:-2]}00\n"

    try:
        clean = leads.clean(lead_file(text), region=region).clean
    except LeadFileError:
        return

    assert all(CODE(region) == phonenumbers.parse(phone).country_code for phone in clean["phone"])
