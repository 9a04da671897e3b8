"""The country of numbers without a country code: given, in the records, inferred beyond doubt, or asked for."""

from __future__ import annotations

import phonenumbers
import pytest

from dialframe import leads, phones
from dialframe.errors import LeadFileError
from dialframe.leads.columns.list_region import column_doubts, decide_region
from leads.national_lists import COUNTRIES, bare_list, made_bare, national_list

CODE = phonenumbers.country_code_for_region


@pytest.fixture(scope="module")
def lists(tmp_path_factory):
    """The list of every country, with its columns."""
    folder = tmp_path_factory.mktemp("lists")

    def read(region):
        path = folder / f"{region}.csv"
        path.write_text(national_list(region, 25), encoding="utf-8")
        file = leads.read(path)
        return file, leads.map_columns(file, region=region)

    return {region: read(region) for region in COUNTRIES}


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


def test_the_right_region_is_taken_without_a_word(lists, lead_file):
    """Whatever else the list holds; of numbers alone, where no other plan fits them as well."""
    for region, (file, columns) in lists.items():
        assert decide_region(file, region, columns).settled() == region

    bare = {region: decide_region(lead_file(bare_list(region)), region) for region in COUNTRIES}
    # Numbers of one prefix: 912 is one of mobile numbers in Peru, Chile and Portugal, 601 in Czechia
    # and Poland, 010 in Korea and China.
    in_doubt = {region for region, one in bare.items() if one.against is not None}
    assert in_doubt <= {"CO", "CH", "ZA", "PE", "IT", "NO", "PT", "CZ", "PL", "KR", "EC"}


def test_numbers_alone_never_choose_a_wrong_country(lead_file):
    """Most plans fit others' numbers, so a list of names and numbers is asked about."""
    for region in COUNTRIES:
        decision = decide_region(lead_file(bare_list(region)))

        assert decision.region is None or CODE(decision.region) == CODE(region)
        if decision.is_open:
            with pytest.raises(LeadFileError, match="--region"):
                decision.settled()


@pytest.mark.parametrize("wrong", ["US", "BR", "IN"])
@pytest.mark.parametrize("names", [True, False], ids=["names", "numbers alone"])
def test_a_bare_list_that_hardly_fits_the_given_region_is_refused(lead_file, wrong, names):
    """Which plans fit is evidence: only a list that fits the given plan as well may be of it."""
    for region in COUNTRIES:
        if CODE(region) == CODE(wrong):
            continue
        made = made_bare(region, 12, names=names)
        file = lead_file(made.text)
        decision = decide_region(file, wrong)
        cells = [str(cell) for cell in file.frame["Phone"]]
        fit = sum(phones.normalize(cells, region=wrong)["valid"]) / len(cells)

        assert fit > 0.6 or decision.against is not None, (region, fit)
        assert decision.against is None or "--force-region" in decision.against


@pytest.mark.parametrize(("right", "wrong", "cells"), [
    # All of them are landlines of Rome, or mobile numbers of France and South Africa.
    ("NL", "FR", [f"06{at % 5 + 1}{at:02}55501" for at in range(40)]),
    ("NL", "ZA", [f"06{at % 5 + 1}{at:02}55501" for at in range(40)]),
    ("AT", "DE", [f"0{(660, 664, 676, 680, 681, 688, 699)[at % 7]}12345{at:02}" for at in range(18)]),
    ("ZA", "IT", [f"0{71 + at % 14}55501{at:02}" for at in range(40)]),
    # Universal access numbers of Britain, as nobody writes them there.
    ("PK", "GB", [f"0301 23456{at:02}" for at in range(20)]),
    # Twelve numbers of both, which nobody would confuse, but likelier of the one.
    ("PH", "IN", [f"09{(17, 27, 56, 75, 77, 95)[at % 6]}5550{at:03}" for at in range(12)]),
    ("PL", "IE", [f"85 555 01 {at:02}" for at in range(12)]),
    ("GR", "IN", [f"69{(4, 7, 3, 8)[at % 4]}55501{at:02}" for at in range(12)]),
    # The groups of another country.
    ("CO", "US", [f"310 55501{at:02}" for at in range(20)]),
])  # fmt: skip
def test_numbers_far_likelier_in_another_plan_are_refused(lead_file, right, wrong, cells):
    """By their leading digits, lengths, types and groups; the right region is taken."""
    file = lead_file("Name,Phone\n" + "".join(f"Kim,{cell}\n" for cell in cells))

    decision = decide_region(file, wrong)

    assert decision.against is not None
    assert right in {candidate.region for candidate in decision.candidates}
    assert decide_region(file, right).against is None


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


@pytest.mark.parametrize(("region", "header", "cells"), [
    ("ES", "Name,Phone", [f"6{at * 37 % 100:02}5550{at:02}" for at in range(40)]),
    ("ES", "Nombre,Teléfono", [f"9{at % 2 * 2 + 1}{at % 8 + 2}{at * 7 % 10}5550{at % 10}" for at in range(40)]),
    ("IT", "Nome,Telefono", [f"06 {at % 8 + 2}{at * 7 % 10}555{at:02}" for at in range(40)]),
    ("MX", "Name,Phone", [f"55{at % 8 + 2}{at * 7 % 10}5550{at:02}" for at in range(40)]),
], ids=["Spanish mobile", "Madrid and Barcelona", "Rome", "Mexico City"])  # fmt: skip
def test_a_list_of_one_city_or_of_mobile_numbers_alone_is_of_its_region(
    lead_file, region, header, cells
):
    """Where other plans fit its numbers as well, the language of the header speaks for it."""
    file = lead_file(f"{header}\n" + "".join(f"Kim,{cell}\n" for cell in cells))

    assert decide_region(file, region).settled() == region


def test_digits_of_one_area_of_two_countries_are_in_doubt(lead_file):
    """Ten digits of Maryland are mobile numbers of Colombia: nothing says which, so nobody is dialed."""
    text = "".join(f"30155501{at:02}\n" for at in range(20))
    decision = decide_region(lead_file(f"Phone\n{text}"), "US")
    in_words = f"Name,State,Phone\n{text}".replace("301", "Kim,MD,301")

    with pytest.raises(LeadFileError, match=r"Colombia CO.*--force-region"):
        decision.settled()
    assert decision.settled(force=True) == "US"
    assert decide_region(lead_file(in_words), "US").settled() == "US"


@pytest.mark.parametrize(("region", "cells"), [
    ("GB", ["020 7946 0018"]),
    ("GB", ["020 7946 0018", "07912 341768", "0161 496 0018"]),
    ("US", ["(212) 555-0140"]),
    ("US", ["2125550140"]),
    ("DE", ["0171 1234567"]),
    ("DE", ["0171 1234567", "030 1234567", "0151 12345678"]),
    ("FR", ["01 42 34 56 78", "06 12 34 56 78"]),
])  # fmt: skip
def test_a_few_usual_numbers_are_of_the_region_given(lead_file, region, cells):
    """The person's word and numbers that are in no likelier plan."""
    rows = "".join(f"Kim,{cell}\n" for cell in cells)

    assert decide_region(lead_file(f"Name,Phone\n{rows}"), region).settled() == region


def test_a_region_that_nothing_but_the_word_says_is_said_to_be_one(lead_file):
    """One number is a number of many countries; a list of some is not told so."""
    one = lead_file("ID,Phone\n1,0748270140\n")
    many = "".join(f"{at},07{at % 5 + 10}5550{at:02}\n" for at in range(20))

    assert "LOOK AT THIS, it may be of" in decide_region(one, "KE").in_words()
    assert decide_region(lead_file(f"ID,Phone\n{many}"), "KE").in_words() == "Kenya (KE) as given"
    assert decide_region(lead_file("Phone\n+254712555001\n"), "KE").in_words().endswith("given")


@pytest.mark.parametrize(("wrong", "row"), [
    ("IT", "Name,City,Phone\nAna,Medellín,310 555 0142\n"),
    ("DE", "Name,Phone\nPäivi Karjalainen,040 5550142\nTeemu Lahtinen,050 5550142\n"),
    ("PK", "Name,Phone\nŁukasz Wiśniewski,512 555 014\nKinga Zielińska,601 555 014\n"),
    ("JP", "Name,Mail,Phone\nReto Frei,reto@example.ch,079 555 01 42\n"),
])  # fmt: skip
def test_a_record_of_plainly_another_country_is_refused(lead_file, wrong, row):
    """One city, two family names, a letter or a mail is enough beside a number of both."""
    assert decide_region(lead_file(row), wrong).against is not None


def test_numbers_with_their_own_country_need_none(lead_file):
    """A plus says it."""
    file = lead_file("Name,Phone\nAnn,+44 20 7946 0018\nBob,+57 310 555 0142\n")
    decision = decide_region(file)

    assert (decision.source, decision.settled()) == ("records", None)


def test_a_column_of_countries_says_it(lead_file):
    """Record by record."""
    file = lead_file("Name,Phone,Country\nAnn,020 7946 0018,UK\nBob,212 555 0142,USA\n")
    decision = decide_region(file, columns=leads.map_columns(file, region=None))

    assert decision.source == "records"


def test_a_list_of_the_united_states_says_so(lead_file):
    """By its states, its ZIP codes and the way its numbers are written."""
    rows = "".join(
        f"Kim {at},({area}) 555-01{at:02},{city},{state},{zip_code}\n"
        for at, (area, city, state, zip_code) in enumerate(
            [("212", "New York", "NY", "10001"), ("312", "Chicago", "IL", "60601")] * 10
        )
    )
    decision = decide_region(lead_file(f"Name,Phone,City,State,Zip\n{rows}"))

    assert decision.region == "US"


def test_the_refusal_names_the_best_candidates(lead_file):
    """With the share of the numbers that are valid there, and an option that works."""
    decision = decide_region(lead_file(bare_list("CO")))

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


def test_an_opt_out_reaches_a_number_of_two_countries_in_both(lead_file):
    """Whichever it is, it is not called under another record."""
    file = lead_file(
        "Name,Phone,Do not call\nAnn,4915123456789,yes\nAnn,+4915123456789,\nBob,030 123456,\n"
    )

    assert leads.clean(file, region="DE").clean["phone"].tolist() == ["+4930123456"]


def test_a_language_alone_does_not_settle_a_country_of_few_known_facts(lead_file):
    """French headers and six digits are Luxembourg's, and New Caledonia's as well."""
    rows = "".join(f"Luc{at},Martin,Nouméa,20.12.{at:02}\n" for at in range(30, 50))

    assert decide_region(lead_file(f"Prénom,Nom,Ville,Téléphone\n{rows}")).is_open


def test_an_opt_out_of_an_unknown_country_reaches_the_given_one(lead_file):
    """Its number may be the one of another record."""
    file = lead_file(
        "Name,Country,Phone,Do not call\nA,HQ,(212) 555-0140,yes\nB,US,(212) 555-0140,\n"
    )

    assert leads.clean(file, region="US").counts["clean"] == 0


def _border(mexican: int, american: int) -> str:
    rows = [f"Ana {at},Monterrey,81 1234 56{at:02},ana@f{at}.com.mx" for at in range(mexican)]
    rows += [f"Bob {at},San Diego,323 223 45{at:02},bob@f{at}.com" for at in range(american)]
    return "\n".join(["Nombre,Ciudad,Teléfono,Correo", *rows]) + "\n"


def test_a_list_from_both_sides_of_a_border_is_asked_about(lead_file):
    """All of its numbers are numbers of Mexico, and some of its people live in San Diego."""
    assert decide_region(lead_file(_border(60, 12))).is_open
    assert decide_region(lead_file(_border(60, 0))).region == "MX"


@pytest.mark.parametrize("cells", [
    [""] * 12 + ["Estados Unidos"] * 3,
    ["zona 1", "zona 2", "norte"] * 4 + [""] * 3 + ["Estados Unidos"] * 3,
], ids=["empty", "unknown"])  # fmt: skip
def test_a_country_column_that_says_little_leaves_nobody_to_a_guess(lead_file, cells):
    """What it names is another country than the likeliest, so the others may be anywhere."""
    rows = "".join(
        f"A{at},Guadalajara,{cell},33 3615 45{at:02},a@x{at}.com.mx\n"
        for at, cell in enumerate(cells)
    )
    file = lead_file(f"Nombre,Ciudad,País,Teléfono,Correo\n{rows}")

    assert decide_region(file, columns=leads.map_columns(file, region=None)).is_open


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


@pytest.mark.parametrize(("region", "wrong", "names"), [
    ("PK", "US", "Muhammad Khan,Bilal Ahmed,Ayesha Malik,Imran Butt,Sana Iqbal,Tariq Qureshi"),
    ("PH", "GB", "Maricel Dela Cruz,Jomar Santos,Rowena Bautista,Rodel Reyes,Lorna Ocampo"),
])  # fmt: skip
def test_names_of_people_speak_for_a_country(lead_file, region, wrong, names):
    """Beside numbers that could be of another: who is on the list is what tells."""
    example = {"PK": "30123456{:02}", "PH": "0905123456{:01}"}[region]
    people = names.split(",")
    rows = "".join(f"{person},{example.format(at)}\n" for at, person in enumerate(people))
    file = lead_file(f"Name,Phone\n{rows}")

    assert decide_region(file, region).against is None
    decision = decide_region(file, wrong)
    assert decision.against is not None


def test_numbers_of_several_plans_without_anything_else_are_asked_about(lead_file):
    """Pakistani mobile numbers without their zero are hardly numbers of fifty American towns."""
    numbers = [f"3{at * 3 % 49:02}55501{at:02}" for at in range(30)]
    file = lead_file("\n".join(["Phone", *numbers]))

    assert decide_region(file, "PK").settled() == "PK"
    assert decide_region(file, "US").against is not None
    assert decide_region(file, "CO").against is not None


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
        cells = [str(cell) for cell in file.frame["Phone"]]

        assert decide_region(file, right).against is None, (right, rows, pattern)
        for region in wrong.split():
            is_refused = decide_region(file, region).against is not None
            assert is_refused or not any(phones.normalize(cells, region=region)["valid"]), (
                region, rows, pattern,
            )  # fmt: skip


@pytest.mark.parametrize(("right", "wrong", "text"), [
    # Eight digits are numbers of both, and so are nine.
    ("NO", "DK", "ID,Phone\n" + "".join(f"{at},73 53 {at:02} 01\n" for at in range(20))),
    ("CL", "PE", "ID,Phone\n" + "".join(f"{at},9{at % 8 + 2}4555{at:03}\n" for at in range(20))),
    ("SK", "CZ", "Phone\n" + "".join(f"41 881 {at:04}\n" for at in range(20))),
    ("AE", "SA", "ID,Mobile\n" + "".join(f"{at},050 12345{at:02}\n" for at in range(10))),
    # Ticino has Italian names, too, and its landlines seven digits behind their area.
    ("IT", "CH", "Name,Phone\nChiara Ricci,081 775 4154\nElena Ferrari,081 837 0663\nLuca Conti,081 555 1234\n"),
], ids=lambda one: one if len(one) == 2 else "")  # fmt: skip
def test_a_neighbor_whose_numbers_look_alike_is_never_taken(lead_file, right, wrong, text):
    """Who gives a wrong region gives that of a neighbor: numbers that are both's are nobody's."""
    decision = decide_region(lead_file(text), wrong)

    assert decision.against is not None
    assert right in decision.against
    assert decision.settled(force=True) == wrong


def test_a_country_that_nobody_confuses_needs_no_proof(lead_file):
    """Digits of Hong Kong are likelier numbers of Guatemala, whose lists nobody says to be of there."""
    text = "".join(f"2{3_000_000 + at * 123_457 % 1_999_999}\n" for at in range(60))
    decision = decide_region(lead_file(f"Phone\n{text}"), "HK")
    likely = {one.region: one.likely for one in decision.candidates}

    assert decision.settled() == "HK"
    assert decide_region(lead_file(f"Phone\n{text}")).is_open
    assert likely["GT"] > likely["HK"] - 6


@pytest.mark.parametrize(("right", "wrong", "text"), [
    ("SK", "CZ", "Name,Phone\nĽubica Kollárová,418 815 159\nJozef Baláž,418 817 297\nZuzana Tóthová,418 811 240\n"),
    ("NO", "DK", "Name,Phone\nInger Haugen,73 53 84 15\nBjørn Solberg,73 53 41 48\nKari Bakken,73 53 66 98\n"),
    ("RS", "BG", "Име,Презиме,Телефон\nМилан,Ђорђевић,024 600001\nЈелена,Илић,024 600002\nЗоран,Павловић,024 600003\n"),
    ("FR", "ES", "Email,Phone\njean.bernard5@example.com,676319232\njulien.moreau@example.com,653548158\nceline_girard7@example.com,676319239\n"),
    # A spreadsheet has taken the zero of Naples, which is part of its number.
    ("IT", "FR", "Nome,Città,Telefono\nChiara Ricci,Napoli,817754154\nElena Ferrari,Napoli,818370663\nLuca Conti,Napoli,815551234\n"),
], ids=lambda one: one if len(one) == 2 else "")  # fmt: skip
def test_names_letters_and_mails_tell_neighbors_apart(lead_file, right, wrong, text):
    """Of few records, where the numbers are numbers of both."""
    assert decide_region(lead_file(text), right).settled() == right
    assert decide_region(lead_file(text), wrong).against is not None


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


def test_a_zero_that_a_spreadsheet_took_is_put_back(lead_file):
    """In Italy it is part of the number."""
    text = "Nome,Telefono\nLuca,0817754154\nPaolo,817754155\n"

    clean = leads.clean(lead_file(text), region="IT", force_region=True).clean

    assert clean["phone"].tolist() == ["+390817754154", "+390817754155"]


@pytest.mark.parametrize(("region", "wrong", "header", "first"), [
    ("LT", "SG", "Nr,Telefonas", "612 615 686 698"),
    ("LV", "HK", "Nr,Tālrunis", "20 22 26 29"),
    ("EE", "SG", "Eesnimi,Mobiiltelefon", "51 53 56 58"),
    ("GE", "ES", "№,ტელეფონი", "551 555 577 599"),
])  # fmt: skip
def test_a_header_of_a_small_language_speaks_for_its_country(
    lead_file, region, wrong, header, first
):
    """Of numbers that are numbers of larger countries, too."""
    first = first.split()
    width = {"LT": 8, "LV": 8, "EE": 8, "GE": 9}[region]
    cells = [f"{first[at % 4]}555{at:02}".ljust(width, "7") for at in range(12)]
    file = lead_file(header + "\n" + "".join(f"{at},{cell}\n" for at, cell in enumerate(cells)))

    assert decide_region(file, region).settled() == region
    assert decide_region(file, wrong).against is not None


def test_one_word_of_a_header_chooses_no_country(lead_file):
    """`Mobilni telefon` is written in Slovenia as in Serbia."""
    decision = decide_region(lead_file("ID,Mobilni telefon\n1000,065 550 584\n"))

    assert decision.is_open


def test_ten_digits_are_of_the_largest_country_of_their_code(lead_file):
    """Numbers of the United States in a list that is said to be Mexican."""
    text = "ID,Phone\n1,6143058849\n2,6143051665\n"

    assert "United States US" in (decide_region(lead_file(text), "MX").against or "")
