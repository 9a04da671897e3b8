"""Whole messy files as people send them: who must not be called is not clean, who can be called is."""

from __future__ import annotations

import zipfile

import pytest

from dialframe import leads
from dialframe.errors import LeadFileError

#: What the file is about, its text, its region, and its rows in order: `+...` for a clean lead with
#: that number, otherwise the outcome.
CLEAN = "+1212555"
FILES: list[tuple[str, str, str, list[str]]] = [
    (
        "a do-not-call remark in the phone cell",
        "Name,Phone\nA,DNC 212-555-0142\nB,212-555-0143 (do not call)\nC,opted out 212-555-0144\n"
        "D,212-555-0145 STOP\nE,212-555-0146\nF,212-555-0147 - no llamar\n",
        "US",
        ["do_not_call"] * 4 + [CLEAN + "0146", "do_not_call"],
    ),
    (
        "a number that is nobody's in the phone cell",
        "Name,Phone\nA,212-555-0142 (fax)\nB,wrong number 212-555-0143\nC,212-555-0144 disconnected\n"
        "D,212-555-0145 (wife)\nE,212-555-0146 (mobile)\nF,212-555-0147 deceased\n",
        "US",
        ["rejected"] * 4 + [CLEAN + "0146", "do_not_call"],
    ),
    (
        "a fax beside a phone in one cell",
        "Name,Contact No\nA,Tel 212-555-0142 Fax 212-555-0190\nB,Fax: 212-555-0191 / Tel: 212-555-0143\n"
        'C,"212-555-0144, 212-555-0192 (fax)"\n',
        "US",
        [CLEAN + "0142", CLEAN + "0143", CLEAN + "0144"],
    ),
    (
        "a bad first number and a good second column",
        "Name,Mobile,Home Phone\nA,212-555-0142 (wrong number),212-555-0152\nB,fax 212-555-0143,212-555-0153\n"
        "C,DNC 212-555-0144,212-555-0154\n",
        "US",
        [CLEAN + "0152", CLEAN + "0153", "do_not_call"],
    ),
    (
        "a disposition column that nobody named an opt-out",
        "Name,Phone,Last Disposition\nA,212-555-0142,DNC\nB,212-555-0143,Do Not Call\nC,212-555-0144,Voicemail\n"
        "D,212-555-0145,No Answer\nE,212-555-0146,Call Back\nF,212-555-0147,Wrong Number\nG,212-555-0148,Not Interested\n",
        "US",
        [
            *("do_not_call", "do_not_call", CLEAN + "0144", CLEAN + "0145", CLEAN + "0146"),
            *("rejected", CLEAN + "0148"),
        ],
    ),
    (
        "notes in prose",
        "Name,Phone,Notes\nA,212-555-0142,Customer said DO NOT CALL again\nB,212-555-0143,did not call back\n"
        "C,212-555-0144,asked to be taken off our list\nD,212-555-0145,could not be contacted on Monday\n"
        "E,212-555-0146,please call after 5\nF,212-555-0147,not on DNC\nG,212-555-0148,said never call me again\n"
        "H,212-555-0149,do not call before 9am\n",
        "US",
        [
            *("do_not_call", CLEAN + "0143", "do_not_call", CLEAN + "0145", CLEAN + "0146"),
            *(CLEAN + "0147", "do_not_call", "do_not_call"),
        ],
    ),
    (
        "tags",
        "Name,Phone,Tags\nA,212-555-0142,vip;dnc;gold\nB,212-555-0143,vip;gold\nC,212-555-0144,opted-out|2024\n"
        "D,212-555-0145,email opt-out\nE,212-555-0146,unsubscribed\n",
        "US",
        ["do_not_call", CLEAN + "0143", "do_not_call", CLEAN + "0145", "do_not_call"],
    ),
    (
        "an e-mail opt-out does not concern calls",
        "Name,Phone,Email Status,Email Opt Out\nA,212-555-0142,Unsubscribed,Yes\nB,212-555-0143,Subscribed,No\n",
        "US",
        [CLEAN + "0142", CLEAN + "0143"],
    ),
    (
        "names of firms and places are no remarks",
        "Name,Phone,Company,Street\nA,212-555-0142,DNC Plumbing,Stop 12\nB,212-555-0143,Stop & Shop,Ring Road\n"
        "C,212-555-0144,Blacklist Records,DND Street\n",
        "US",
        [CLEAN + "0142", CLEAN + "0143", CLEAN + "0144"],
    ),
    (
        "the second number of who opted out",
        "Name,Mobile,Home,DNC\nA,212-555-0142,212-555-0152,Yes\nB,212-555-0152,,No\nC,212-555-0143,,No\n",
        "US",
        ["do_not_call", "do_not_call", CLEAN + "0143"],
    ),
    (
        "the third number in a cell of who opted out",
        'Name,Phone,DNC\nA,"212-555-0142 / 212-555-0143 / 212-555-0144",Y\nB,212-555-0144,N\nC,212-555-0145,N\n',
        "US",
        ["do_not_call", "do_not_call", CLEAN + "0145"],
    ),
    (
        "the same customer id under another number",
        "Customer ID,Phone,DNC\n17,212-555-0142,yes\n18,212-555-0143,no\n17,212-555-0144,no\n",
        "US",
        ["do_not_call", CLEAN + "0143", "do_not_call"],
    ),
    (
        "the same e-mail and name under another number",
        "Name,Phone,Email,DNC\nAnn Lee,212-555-0142,ann@example.com,yes\nAnn  LEE,212-555-0144,ANN@example.com,no\n"
        "Bob Lee,212-555-0145,ann@example.com,no\n",
        "US",
        ["do_not_call", "do_not_call", CLEAN + "0145"],
    ),
    (
        "who opted out with a number that cannot be called",
        "Name,Phone,Other Phone,DNC\nA,12,212-555-0152,yes\nB,212-555-0152,,no\nC,,,yes\n",
        "US",
        ["do_not_call", "do_not_call", "do_not_call"],
    ),
    (
        "who opted out in a record with a cell too many",
        "Name,Phone,DNC\nLee, Ann,212-555-0142,yes\nBob,212-555-0142,no\nCy,212-555-0143,no\nDi,212-555-0144,no\n",
        "US",
        ["do_not_call", "do_not_call", CLEAN + "0143", CLEAN + "0144"],
    ),
    (
        "phones of others, old ones and account numbers",
        "Name,Phone,Emergency Contact Phone,Old Phone,Account Number,Spouse Phone,Company Fax\n"
        "A,212-555-0142,212-555-0150,212-555-0151,2125550152,212-555-0153,212-555-0154\n"
        "B,,212-555-0160,212-555-0161,2125550162,212-555-0163,212-555-0164\n",
        "US",
        [CLEAN + "0142", "rejected"],
    ),
    (
        "wrong phone, bad phone, agent phone, customer number",
        "Name,Phone,Wrong Phone,Bad Phone,Agent Phone,Customer Number,Order No\n"
        "A,,212-555-0150,212-555-0151,212-555-0152,2125550153,2125550154\nB,212-555-0143,,,,,\n",
        "US",
        ["rejected", CLEAN + "0143"],
    ),
    (
        "registers of Britain",
        "Name,Telephone,TPS,CTPS\nA,020 7946 0123,Y,N\nB,020 7946 0124,N,N\nC,020 7946 0125,,Registered\n"
        "D,020 7946 0126,Not registered,\n",
        "GB",
        ["do_not_call", "+442079460124", "do_not_call", "+442079460126"],
    ),
    (
        "registers of France",
        "Nom,Téléphone,Bloctel,Ne pas appeler\nA,01 99 00 12 34,oui,\nB,01 99 00 12 35,non,non\nC,01 99 00 12 36,,x\n",
        "FR",
        ["do_not_call", "+33199001235", "do_not_call"],
    ),
    (
        "Spanish headers",
        "Nombre;Teléfono;Ok llamar;Lista Robinson\nA;+1 212 555 0142;Sí;No\nB;+1 212 555 0143;No;No\n"
        "C;+1 212 555 0144;Sí;Sí\nD;+1 212 555 0145;;No\n",
        "ES",
        [CLEAN + "0142", "do_not_call", "do_not_call", "do_not_call"],
    ),
    (
        "German headers",
        "Name;Telefon;Einwilligung;Werbesperre\nA;030 23125123;ja;nein\nB;030 23125124;nein;nein\n"
        "C;030 23125125;ja;ja\nD;030 23125126;erteilt;\nE;030 23125127;widerrufen;\n",
        "DE",
        ["+493023125123", "do_not_call", "do_not_call", "+493023125126", "do_not_call"],
    ),
    (
        "Portuguese headers",
        "Nome;Telefone;Não perturbe;Autoriza ligações\nA;+1 212 555 0142;não;sim\nB;+1 212 555 0143;sim;sim\n"
        "C;+1 212 555 0144;não;não\n",
        "BR",
        [CLEAN + "0142", "do_not_call", "do_not_call"],
    ),
    (
        "Japanese headers",
        "氏名,電話番号,架電禁止,備考\n甲,+1 212 555 0142,,\n乙,+1 212 555 0143,はい,\n丙,+1 212 555 0144,,電話しないでほしいとのこと\n"
        "丁,+1 212 555 0145,×,\n戊,+1 212 555 0146,○,\n",
        "JP",
        [CLEAN + "0142", "do_not_call", "do_not_call", CLEAN + "0145", "do_not_call"],
    ),
    (
        "Japanese permission",
        "氏名,電話番号,連絡可否\n甲,+1 212 555 0142,可\n乙,+1 212 555 0143,不可\n丙,+1 212 555 0144,○\n丁,+1 212 555 0145,NG\n"
        "戊,+1 212 555 0146,検討中\n",
        "JP",
        [CLEAN + "0142", "do_not_call", CLEAN + "0144", "do_not_call", "do_not_call"],
    ),
    (
        "may we contact you",
        "Name,Phone,May we contact you?\nA,212-555-0142,Yes\nB,212-555-0143,No\nC,212-555-0144,\nD,212-555-0145,maybe later\n",
        "US",
        [CLEAN + "0142", "do_not_call", "do_not_call", "do_not_call"],
    ),
    (
        "marketing preferences by channel",
        "Name,Phone,Marketing Prefs\nA,212-555-0142,Phone; Email\nB,212-555-0143,Email only\nC,212-555-0144,All\nD,212-555-0145,None\n",
        "US",
        [CLEAN + "0142", "do_not_call", CLEAN + "0144", "do_not_call"],
    ),
    (
        "a column of opt-out dates",
        "Name,Phone,Opt Out Date\nA,212-555-0142,2024-01-05\nB,212-555-0143,\nC,212-555-0144,03/04/2024\n",
        "US",
        ["do_not_call", CLEAN + "0143", "do_not_call"],
    ),
    (
        "unknown words in an opt-out column",
        "Name,Phone,Do Not Call\nA,212-555-0142,perhaps\nB,212-555-0143,N\nC,212-555-0144,2\nD,212-555-0145,ask Bob\n",
        "US",
        ["do_not_call", CLEAN + "0143", "do_not_call", "do_not_call"],
    ),
    (
        "area code and number",
        "Name,Area Code,Phone\nA,212,555-0142\nB,(312),5550143\nC,,555-0144\nD,404.0,5550145.0\nE,212,(206) 555-0146\n",
        "US",
        [CLEAN + "0142", "+13125550143", "rejected", "+14045550145", "+12065550146"],
    ),
    (
        "three parts",
        "Name,Phone1,Phone2,Phone3\nA,212,555,0142\nB,312,555,0143\nC,404,555,0144\nD,206,555,0145\n",
        "US",
        [CLEAN + "0142", "+13125550143", "+14045550144", "+12065550145"],
    ),
    (
        "three parts in Japanese",
        "氏名,市外局番,市内局番,番号\n甲,03,5555,0142\n乙,06,6555,0143\n丙,052,,0144\n",
        "JP",
        ["+81355550142", "+81665550143", "rejected"],
    ),
    (
        "area code and number in German",
        "Nachname;Vorwahl;Rufnummer\nA;030;23125123\nB;30;23125124\nC;;23125125\nD;030;030/23125126\nE;030;+49 30 23125127\n",
        "DE",
        ["+493023125123", "+493023125124", "rejected", "+493023125126", "+493023125127"],
    ),
    (
        "dialing code, area and number",
        "Name,Country Code,Area Code,Number\nA,1,212,5550142\nB,+44,20,79460123\nC,49,30,23125123\n",
        "US",
        [CLEAN + "0142", "+442079460123", "+493023125123"],
    ),
    (
        "a country for each row",
        "Name,Phone,Country\nA,212-555-0142,USA\nB,020 7946 0123,United Kingdom\nC,030 23125123,Deutschland\nD,01 99 00 12 34,FR\n"
        "E,212-555-0143,\nF,212-555-0144,Atlantis\nG,+1 212 555 0145,Atlantis\n",
        "US",
        [
            *(CLEAN + "0142", "+442079460123", "+493023125123", "+33199001234", CLEAN + "0143"),
            *("rejected", CLEAN + "0145"),
        ],
    ),
    (
        "an extension in a column of its own",
        "Name,Phone,Ext\nA,212-555-0142,12\nB,212-555-0143,\n",
        "US",
        [CLEAN + "0142", CLEAN + "0143"],
    ),
    (
        "a do-not-call word in the name",
        "Name,Phone\nAnn Lee (DO NOT CALL),212-555-0142\nBob Lee DNC,212-555-0143\nCy Stop,212-555-0144\nDi (deceased),212-555-0145\n",
        "US",
        ["do_not_call", "do_not_call", CLEAN + "0144", "do_not_call"],
    ),
    (
        "a phone type that says fax",
        "Name,Phone,Phone Type\nA,212-555-0142,Mobile\nB,212-555-0143,Fax\n",
        "US",
        [CLEAN + "0142", "rejected"],
    ),
    (
        "a flag of wrong numbers",
        "Name,Phone,Bad Number\nA,212-555-0142,N\nB,212-555-0143,Y\nC,212-555-0144,\n",
        "US",
        [CLEAN + "0142", "do_not_call", CLEAN + "0144"],
    ),
    (
        "masked and cut numbers",
        "Name,Phone\nA,212-555-01XX\nB,212-555-****\nC,212-555-0142\nD,555-0143\nE,2.12555E+09\n",
        "US",
        ["rejected", "rejected", CLEAN + "0142", "rejected", "rejected"],
    ),
    (
        "letters do not become digits of the number",
        "Name;Telefon\nA;030 23125123 alt\nB;030 23125124 Büro\nC;030 23125125 (abends)\n",
        "DE",
        ["+493023125123", "+493023125124", "+493023125125"],
    ),
    (
        "consent that was withdrawn",
        "Name,Phone,Consent Withdrawn,Consent\nA,212-555-0142,No,Yes\nB,212-555-0143,Yes,Yes\nC,212-555-0144,,Yes\n",
        "US",
        [CLEAN + "0142", "do_not_call", CLEAN + "0144"],
    ),
    (
        "a fax column with a remark",
        "Name,Phone,Fax\nA,212-555-0142,do not call\nB,212-555-0143,212-555-0190\n",
        "US",
        ["do_not_call", CLEAN + "0143"],
    ),
    (
        "numbers of other things are no phones",
        "Phone,Zip,SSN,Born,Policy Number,Lat\n212-555-0142,10001,078-05-1120,1980-01-02,2125550199,40.7128\n"
        "x,60601,219-09-9999,1981-02-03,3125550198,41.8781\n",
        "US",
        [CLEAN + "0142", "rejected"],
    ),
    (
        "words of refusal that are names, priorities and orders",
        "Name,Phone,Lead Owner,Prioridad,Order Status,Last SMS\n"
        "A,212-555-0142,Robinson,Baja,Removed,Reply STOP to opt out\n"
        "B,212-555-0143,Stop,Alta,Blocked,Hi\n",
        "US",
        [CLEAN + "0142", CLEAN + "0143"],
    ),
    (
        "every shape of yes and no",
        "Name,Phone,DNC\nA,212-555-0142,✓\nB,212-555-0143,✗\nC,212-555-0144,1.0\nD,212-555-0145,0.0\n"
        "E,212-555-0146,TRUE\nF,212-555-0147,False\nG,212-555-0148,X\nH,212-555-0149,n/a\n"
        "I,212-555-0150,opted in\nJ,212-555-0151,Sí\n",
        "US",
        [
            *("do_not_call", CLEAN + "0143", "do_not_call", CLEAN + "0145", "do_not_call"),
            *(CLEAN + "0147", "do_not_call", CLEAN + "0149", CLEAN + "0150", "do_not_call"),
        ],
    ),
    (
        "what a person wants in French and Spanish",
        "Nom;Téléphone;Démarchage;Observations\nA;01 99 00 12 34;Accepté;\nB;01 99 00 12 35;Refusé;\n"
        "C;01 99 00 12 36;Accepté;ne veut plus recevoir d'appels\nD;01 99 00 12 37;Accepté;pas d'appel reçu\n",
        "FR",
        ["+33199001234", "do_not_call", "do_not_call", "+33199001237"],
    ),
    (
        "numbers that their plan allows and E.164 does not",
        "Name,Telefon\nA,05290 2162104378\nB,+4952902162104378\nC,030 23125 013\n",
        "DE",
        ["rejected", "rejected", "+493023125013"],
    ),
    (
        "a flag that is called Call",
        "Name,Phone,Call?\nA,212-555-0142,Y\nB,212-555-0143,N\nC,212-555-0144,\n",
        "US",
        [CLEAN + "0142", "do_not_call", "do_not_call"],
    ),
    (
        "some numbers with their area and some without",
        "Name,Area Code,Phone\nA,212,2125550142\nB,312,312-555-0143\nC,415,555-0144\n",
        "US",
        [CLEAN + "0142", "+13125550143", "+14155550144"],
    ),
    (
        "legal text about opting out is no opt-out",
        "Name,Phone,Consent Language\nA,212-555-0142,You agree to be called. You may opt out at any time.\n"
        "B,212-555-0143,You agree to be called. You may opt out at any time.\n",
        "US",
        [CLEAN + "0142", CLEAN + "0143"],
    ),
    (
        "premium lines",
        "Name,Phone\nA,900-555-0142\nB,212-555-0143\n",
        "US",
        ["+19005550142", CLEAN + "0143"],
    ),
]


def outcomes(cleaned: leads.Cleaned) -> list[str]:
    """What became of each record, in order: the number of clean ones, the outcome of others."""
    frames = {
        "clean": cleaned.clean,
        "rejected": cleaned.rejected,
        "duplicate": cleaned.duplicates,
        "do_not_call": cleaned.do_not_call,
        "skipped": cleaned.skipped,
    }
    rows = {
        int(row): phone if name == "clean" else name
        for name, frame in frames.items()
        for row, phone in zip(
            frame["_row"], frame["phone"] if name == "clean" else frame["_row"], strict=True
        )
    }
    return [str(rows[row]) for row in sorted(rows)]


@pytest.mark.parametrize(
    ("about", "text", "region", "expected"), FILES, ids=[about for about, *_ in FILES]
)
def test_every_record_is_where_a_person_would_put_it(lead_file, about, text, region, expected):
    """The file as it is, without being told anything but the region."""
    cleaned = leads.clean(lead_file(text), region=region)

    assert outcomes(cleaned) == expected


def test_quoted_control_characters_are_no_part_of_a_name(lead_file):
    """Neither the next-line character of some systems nor a quote of another code page divides a record."""
    file = lead_file('Name,Phone\n"Ann\x85Lee",(212) 555-0142\n"Bob\x91s",212-555-0143\n')
    clean = leads.clean(file, region="US").clean
    assert clean["full_name"].tolist() == ["Ann Lee", "Bobs"]


def test_an_archive_with_one_odd_table_is_refused_by_its_name(tmp_path):
    """Nothing of it is written as clean, and the sentence names the table and what to do."""
    path, out = tmp_path / "lists.zip", tmp_path / "out"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("list.csv", "Name,Phone\nAnn,(212) 555-0142\n")
        archive.writestr("meta.csv", "key;value\nversion;1\n")
    with pytest.raises(LeadFileError, match=r"meta\.csv has no column that is known as a phone"):
        leads.clean_files([path], out, region="US")
    assert not list(out.glob("*.clean.csv"))
