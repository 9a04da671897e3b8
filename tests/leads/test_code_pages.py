"""Code pages beyond the western one are told by the letters that their languages write."""

from __future__ import annotations

import pytest

from dialframe.leads.reading.encoding import decode

#: Code page and a list in one of its languages.
LISTS = {
    "cp1253": "Ονοματεπώνυμο;Τηλέφωνο;Πόλη\nΓιώργος Παπαδόπουλος;2101234567;Αθήνα\nΜαρία Νικολάου;2310123456;Θεσσαλονίκη\n",
    "cp1254": "Adı Soyadı;Telefon;Şehir\nAyşe Yılmaz;0212 555 0142;İstanbul\nMehmet Doğan;0312 555 0143;Çankırı\nIşıl Güneş;0232 555 0144;Muğla\n",
    "iso8859_7": "Όνομα;Κινητό;Πόλη\nΕλένη Άννινου;6912345671;Αθήνα\nΝίκος Ψαρρός;6912345672;Αθήνα\n",
    "cp1256": "الاسم;الهاتف;المدينة\nفاطمة حسن;01001234561;القاهرة\nأحمد إبراهيم;01001234562;الإسكندرية\n",
    "cp1255": "שם;טלפון;עיר\nדוד כהן;03-5550142;תל אביב\nרחל לוי;02-5550143;ירושלים\n",
    "cp1257": "Vardas;Telefonas;Miestas\nJonas Žukauskas;8 612 34567;Šiauliai\nRūta Kazlauskienė;8 612 34568;Panevėžys\nGiedrė Mažeikytė;8 612 34569;Plungė, Telšių apskritis\n",
    "euc_kr": "이름;전화번호;주소\n김민수;02-555-0142;서울특별시 강남구\n박지영;051-555-0143;부산광역시 해운대구\n",
    "cp1250": "Jméno;Telefon;Město\nJiří Dvořák;601 123 456;Plzeň\nŠárka Nováková;602 123 456;České Budějovice\n",
    "cp1252": "NOMBRE;TELÉFONO;DIRECCIÓN\nJOSÉ NÚÑEZ;910 555 014;CALLE MAYOR Nº 5, 3º\nMARÍA PEÑA;910 555 015;AVDA. ESPAÑA Nº 12, 1ª\n",
    "cp874": "ชื่อ,โทรศัพท์,จังหวัด\nสมชาย ใจดี,081-234-5671,กรุงเทพ\nประเสริฐ ศรีสุข,081-234-5672,เชียงใหม่\n",
    "gb18030": "姓名;电话;地址\n王小明;13800138000;北京市海淀区中关村大街1号\n李华;13900139000;上海市浦东新区\n",
    "big5": "姓名;電話;地址\n陳小明;02-2555-0142;臺北市中正區重慶南路\n林美華;07-555-0143;高雄市前鎮區\n",
    "cp1251": "Имя;Телефон;Город\nИван Петров;495 555-01-42;Москва\nЯна Щербакова;812 555-01-43;Санкт-Петербург\n",
}


@pytest.mark.parametrize("code_page", LISTS)
def test_a_list_comes_out_as_it_was_written(code_page):
    """Letter by letter."""
    text = LISTS[code_page]

    assert decode(text.encode(code_page)).text == text


def test_a_letter_of_two_languages_counts_for_the_whole_list():
    """Estonian `õ`, where the west has it in `õe` alone."""
    text = "Nimi;Telefon;Linn\nJüri Õunapuu;51234560;Põlva\nTõnu Põder;51234562;Põlva\nŽanna Mägi;51234563;Võru\n"

    assert decode(text.encode("cp1257")).text == text


def test_a_number_sign_behind_a_capital_is_no_central_european_letter():
    """`Nº` after capitals."""
    text = "CALLE;NUMERO\nMAYOR;Nº 5\nREAL;Nº 7\nALTA;Nº 9\n"

    assert decode(text.encode("cp1252")).text == text


@pytest.mark.parametrize(("code_page", "text"), [
    ("euc_jp", "氏名,携帯電話,電話番号\n長谷川 修平,090-2251-4347,0768-38-9288\n森 直子,090-9308-3395,03-3627-3092\n"),
    ("cp1257", "Vardas,Mobilusis,Telefonas\nErika Sakalauskas,8 612 34567,\nTadas Narušis,8 612 34568,\n"),
    ("cp1257", "Name,Phone,Email\nIveta Lāce,21 391 303,iveta@example.lv\n"),
    ("cp1250", "Ime,Mobitel,Telefon\nMatea Mamić,092 026 2405,\nDora Kos,092 026 2406,\n"),
    ("cp1250", "Nume,Telefon\nMitică Dobre,0788 838 754\n"),
    ("cp1250", "Name,Phone,Email\nRostislav Němeček,604 847 471,r@example.cz\n"),
    ("cp1250", "Név,Város,Telefonszám\n" + "Nagy Sándor Mihály,Kecskemét,06 20 549 9297\n" * 30 + "Kis Ernő,Pécs,06 20 549 9298\n"),
    ("cp1254", "Ad Soyad,Cep\nÖzlem Şafak,0509 094 84 27\n"),
    ("cp1252", "Nome,Telefone,E-mail\nJoão Guimarães,11 95555-0142,joao@example.com.br\n"),
], ids=lambda one: one if len(one) < 9 else "")  # fmt: skip
def test_a_list_of_few_letters_is_told_by_its_headers_and_mails(code_page, text):
    """One letter is a letter of several code pages; words and endings of domains say of which language."""
    assert decode(text.encode(code_page)).text == text
