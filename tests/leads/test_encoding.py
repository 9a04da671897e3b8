"""Every byte is proven: text comes back exactly in each encoding that lists are written in."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe.errors import ConfigError, LeadFileError
from dialframe.leads.encoding import NAMES, code_pages, decode, is_binary
from leads.tables import table
from rows import every_row

LISTS = table("encodings")["lists"]
UNICODE = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be")


@every_row("made", LISTS)
def test_a_list_comes_back_letter_by_letter(made):
    """In each of its code pages, and in Unicode, without being told."""
    first, again, *rest = made["text"].splitlines(keepends=True)
    text = "".join([first, *[again] * made.get("repeated", 1), *rest])
    for encoding in (*made["code_pages"], *(UNICODE if "every_unicode" in made else ())):
        # Half-width kana in UTF-16 without a mark look like UTF-8.
        if not (encoding.startswith("utf-16-") and "ｼﾒｲ" in text):
            assert decode(text.encode(encoding)).text == text, encoding


def test_each_code_page_that_is_weighed_has_a_list():
    """No row of the table of code pages is left to chance."""
    held = {codecs.lookup(page).name for made in LISTS for page in made["code_pages"]}

    assert {codecs.lookup(NAMES.get(page, page)).name for page in code_pages()} <= held


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
    assert isinstance(is_binary(decoded.text), bool)


def test_several_marks_are_all_taken_off():
    """Two programs put one each."""
    found = decode("\ufeff\ufeffname,città".encode())

    assert (found.text, found.bom) == ("name,città", True)
