"""Every byte is proven: text comes back exactly in each encoding that lists are written in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe.errors import ConfigError, LeadFileError
from dialframe.leads.reading import text_plausibility
from dialframe.leads.reading.encoding import decode

TEXTS = {
    "French": "Nom;Prénom;Ville\nLefèvre;Hélène;Besançon\nGarçon;Zoë;Évry\nBenoît;Jérôme;Nîmes\n",
    "Spanish": "Nombre;Ciudad\nPeña;Córdoba\nMuñoz;León\nGarcía;A Coruña\nNúñez;Málaga\n",
    "German": "Name;Straße\nMüller;Königstraße\nGroß;Jägerweg\nSchäfer;Hauptstraße\n",
    "Portuguese": "Nome;Cidade\nJoão Gonçalves;São Paulo\nConceição;Brasília\nAntônio;Goiânia\n",
    "Italian": "Nome;Città\nNiccolò;Forlì\nPerù;Mondovì\nGià;Cantù\n",
    "Swedish": "Namn;Ort\nÅsa Öberg;Malmö\nJörgen Ström;Västerås\n",
    "Danish": "Navn;By\nSøren Kjær;Århus\nJørgen Møller;Næstved\n",
    "Polish": "Imię;Miasto\nŁukasz Wójcik;Gdańsk\nGrażyna Ząbek;Łódź\nMałgorzata;Kraków\n",
    "Czech": "Jméno;Město\nJiří Dvořák;Plzeň\nTomáš Černý;Děčín\nKateřina Růžičková;Ústí\n",
    "Hungarian": "Név;Város\nKovács Győző;Győr\nSzűcs Erzsébet;Gyöngyös\n",
    "Russian": "Имя;Город\nИван Петров;Москва\nОльга Смирнова;Санкт-Петербург\n",
    "Japanese": "氏名,住所\n山田太郎,静岡県焼津市本町\n佐藤花子,東京都港区芝公園\n鈴木一郎,大阪府大阪市北区\n",
    "kana": "ｼﾒｲ,TEL\nﾔﾏﾀﾞ ﾀﾛｳ,03\nｻﾄｳ ﾊﾅｺ,03\nｽｽﾞｷ ｲﾁﾛｳ,03\n",
    "Chinese": "姓名,地址\n王小明,北京市朝阳区建国路\n李华,上海市浦东新区世纪大道\n张伟,广州市天河区\n",
    "Taiwanese": "姓名,地址\n陳大文,臺北市中正區重慶南路\n林小美,臺中市西屯區臺灣大道\n",
}
LATIN = ("French", "Spanish", "German", "Portuguese", "Italian", "Swedish", "Danish")
CASES = [
    *((name, "cp1252") for name in LATIN),
    *((name, "mac_roman") for name in LATIN),
    *((name, "cp850") for name in LATIN),
    *((name, "cp1250") for name in ("Polish", "Czech", "Hungarian")),
    *(("Russian", name) for name in ("cp1251", "koi8-r")),
    *(("Japanese", name) for name in ("shift_jis", "euc_jp", "iso2022_jp")),
    ("kana", "shift_jis"),
    ("Chinese", "gb18030"),
    ("Taiwanese", "big5"),
    *((name, "utf-8") for name in TEXTS),
    *((name, "utf-8-sig") for name in TEXTS),
    *((name, "utf-16") for name in TEXTS),
    *((name, code) for name in TEXTS for code in ("utf-16-le", "utf-16-be") if name != "kana"),
    ("French", "utf-32"),
]


@pytest.mark.parametrize(("name", "encoding"), CASES)
def test_text_comes_back_exactly(name, encoding):
    """The text of each language is read in each of its encodings without being told."""
    assert decode(TEXTS[name].encode(encoding)).text == TEXTS[name]


def test_a_late_byte_is_found_on_the_whole_file():
    """A file that is UTF-8 for a megabyte and then is not, is not read as if it were."""
    data = ("name,phone\n" + "Zoë,1\n" * 150_000).encode() + b"O\x92Brien,2\n"

    decoded = decode(data)

    assert decoded.text.endswith("O’Brien,2\n")
    assert decoded.encoding == "utf-8"
    assert decoded.repaired == (decoded.text.index("’"),)


def test_a_few_stray_bytes_do_not_change_the_rest():
    """Only the stray bytes are read as cp1252; what is UTF-8 in the same line stays."""
    decoded = decode("José,Zoë\nÅsa\n".encode() + "Renée ".encode() + b"caf\xe9\n" + b"ok\n")

    assert decoded.text == "José,Zoë\nÅsa\nRenée café\nok\n"
    assert decoded.repaired == (decoded.text.index("é\nok"),)


def test_utf_8_lines_in_a_cp1252_file_are_read_as_such():
    """Two exports joined into one file are both read, and the strangers are flagged."""
    decoded = decode("José\nZoë\nÅsa\n".encode("cp1252") + "Renée\n".encode())

    assert decoded.text == "José\nZoë\nÅsa\nRenée\n"
    assert decoded.encoding == "cp1252"
    assert decoded.repaired == (decoded.text.index("Renée"),)


def test_one_apostrophe_of_cp1252_is_enough():
    """A file of plain ASCII but for 0x92 is Windows-1252."""
    decoded = decode(b"name\n" + b"plain\n" * 50 + b"ST MARY\x92S\n")

    assert decoded.text.endswith("ST MARY’S\n")


def test_a_delimiter_that_is_no_letter_does_not_decide():
    """`¬` in every line neither hides nor fakes the letters of a language."""
    rows = ["Kod¬Imię¬Miasto¬Ulica"] + [f"{n}¬Małgorzata¬Łódź¬Świętokrzyska" for n in range(9)]

    assert decode("\n".join(rows).encode("cp1250")).text == "\n".join(rows)


def test_undefined_bytes_are_kept_and_flagged():
    """A byte that the code page leaves undefined is neither lost nor changed in silence."""
    decoded = decode("Hélène;Besançon;Zoë\n".encode("cp1252") * 50 + b"x\x81y\n")

    assert decoded.text.endswith("x\x81y\n")
    assert len(decoded.repaired) == 1


def test_a_told_encoding_is_proven_too():
    """What is told and not true is refused with the place."""
    with pytest.raises(LeadFileError, match=r"byte 8 \(line 2\) is not utf-8"):
        decode(b"name\nJos\xe9\n", "utf-8")


def test_an_unknown_encoding_is_named():
    """A misspelled name is a mistake of the caller."""
    with pytest.raises(ConfigError, match="klingon"):
        decode(b"name\n", "klingon")


def test_a_told_encoding_loses_its_mark():
    """The byte order mark is no part of the first header."""
    assert decode("\ufeffname\n".encode("utf-16"), "utf-16").text == "name\n"
    assert decode("\ufeffname\n".encode(), "utf-8").text == "name\n"


@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")).map("né,".__add__)
)
def test_any_text_in_utf_8_comes_back(text):
    """Strict UTF-8 is never doubted."""
    assert decode(text.encode()).text == text.removeprefix("\ufeff")


def test_a_nul_byte_is_no_utf_16():
    """A NUL that strayed into a file stays where it is."""
    text = "name,phone\nA\x00nn,2125550142\n"

    assert decode(text.encode()).text == text


@given(st.binary(min_size=1, max_size=300))
def test_any_bytes_give_text_or_are_called_binary(data):
    """No byte sequence breaks the decoder, and flags point into the text."""
    decoded = decode(data)

    assert all(0 <= at < len(decoded.text) for at in decoded.repaired)
    assert 0 <= decoded.confidence <= 1
    assert isinstance(text_plausibility.is_binary(decoded.text), bool)


def test_several_marks_are_all_taken_off():
    """Two programs put one each."""
    found = decode("\ufeff\ufeffname,città".encode())

    assert (found.text, found.bom) == ("name,città", True)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Kovács Gábor,Győr\nSzőke Erzsébet,Szőreg\n", "cp1250"),
        ("Łukasz Wójcik,Łódź\nMałgorzata Świątek,Gdańsk\n", "iso8859_2"),
        ("Анна Иванова,Москва\nБорис Петров,Казань\n", "cp866"),
    ],
)
def test_more_code_pages_of_the_east(text, encoding):
    """Hungarian, Polish and Russian as older programs write them."""
    assert decode(text.encode(encoding)).text == text
