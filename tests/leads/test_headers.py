"""Headers are known in six languages, and their traps are settled."""

from __future__ import annotations

import pytest

from dialframe.leads import header_vocabulary
from dialframe.leads.columns.header_match import header_score, phone_rank
from dialframe.leads.header_vocabulary import known
from dialframe.opt_outs import plain


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("E-Mail_Adresse", "e mail adresse"),
        ("CellPhone1", "cell phone 1"),
        ("  Téléphone (portable) ", "telephone portable"),
        ("PHONE_NUMBER", "phone number"),
        ("HasOptedOut", "has opted out"),
        ("電話番号", "電話番号"),
        ("ＴＥＬ", "tel"),
        ("***", ""),
    ],
)
def test_plain_words(header, words):
    """Accents, case, punctuation and camel case do not matter."""
    assert plain(header) == words


@pytest.mark.parametrize("field", sorted(header_vocabulary.NAMES))
def test_every_name_is_its_own_field(field):
    """Each name of the table is found as the field it stands under, and scores full marks."""
    vague = header_vocabulary.VAGUE_NUMBERS if field == "phone" else frozenset()
    for name in header_vocabulary.NAMES[field]:
        assert known(name) is not None
        assert header_score(name, field) == (0.65 if name in vague else 1.0)


#: Header and the field that it is, or None.
BELONGS = [
    ("Mobile", "phone"),
    ("Handynummer", "phone"),
    ("Telefon geschäftlich", "phone"),
    ("Teléfono de contacto", "phone"),
    ("Tel. portable", "phone"),
    ("Telemóvel", "phone"),
    ("携帯電話番号", "phone"),
    ("contact.telephone", "phone"),
    ("Customer Phone 2", "phone"),
    ("Telefax", "fax"),
    ("Fax-Nr.", "fax"),
    ("ファックス番号", "fax"),
    ("Phone Type", None),
    ("Phone Ext", "extension"),
    ("内線番号", "extension"),
    ("Country Code", "country"),
    ("Vorname", "first_name"),
    ("Prénom", "first_name"),
    ("Apellidos", "last_name"),
    ("Apelido", "last_name"),
    ("Nom de famille", "last_name"),
    ("Nome completo", "full_name"),
    ("お名前", "full_name"),
    ("Hospital Name", "full_name"),
    ("schulname", "full_name"),
    ("Campaign Name", None),
    ("County Name", None),
    ("Username", None),
    ("Courriel", "email"),
    ("メールアドレス", "email"),
    ("Email Status", None),
    ("Kundennummer", "external_id"),
    ("Provider ID", "external_id"),
    ("Lead Source", "source"),
    ("Do Not Call", "opt_out"),
    ("No llamar", "opt_out"),
    ("Nicht anrufen?", "opt_out"),
    ("電話不可", "opt_out"),
    ("Email Opt Out", None),
    ("Opted out of SMS", None),
    ("TCPA Consent", "consent"),
    ("Call consent given", "consent"),
    ("Consent Date", None),
    ("ZIP", None),
]


@pytest.mark.parametrize(("header", "field"), BELONGS)
def test_headers_belong_to_the_field_stated(header, field):
    """The best field of each header is the one that a person would say."""
    scores = {name: header_score(header, name) for name in header_vocabulary.NAMES}
    best = max(scores, key=lambda name: scores[name])

    assert (best if scores[best] >= 0.65 else None) == field


def test_phones_are_preferred_mobile_first():
    """Mobile, then phone, then home, then work, then further ones."""
    names = ["Phone 2", "Work phone", "Home phone", "Phone", "Cell", "勤務先電話番号", "自宅電話"]

    assert [phone_rank(name) for name in names] == [4, 3, 2, 1, 0, 3, 2]
