"""Which characters text in each legacy code page is made of; a table, it decodes nothing.

A code page is recognized by reading bytes through it and asking whether the characters that come
out are those that some language writes: French read as Central European has letters of four
languages at once, Russian in the wrong one has capitals at the ends of words. `encoding` does the
asking; here stand the alphabets.
"""

from __future__ import annotations

from typing import Final

_RUSSIAN: Final = "абвгдежзийклмнопрстуфхцчшщъыьэюяё"
_UKRAINIAN: Final = "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя"
_BULGARIAN: Final = "абвгдежзийклмнопрстуфхцчшщъьюя"
_SERBIAN: Final = "абвгдђежзијклљмнњопрстћуфхцчџш"

#: Letters beyond ASCII that each language writes, in lower case, by script family.
LATIN_WEST: Final[dict[str, str]] = {
    "French": "àâæçèéêëîïôùûüÿœ",
    "Spanish": "áéíñóúü",
    "Portuguese": "áâãàçéêíóôõúü",
    "German": "äöüß",
    "Italian": "àèéìòù",
    "Nordic": "åäæöøéü",
    "Icelandic": "áðéíóúýþæö",
    "Dutch": "ëïéèöüá",
    "Catalan": "àçèéíïòóúü",
}
LATIN_CENTRAL: Final[dict[str, str]] = {
    "Polish": "ąćęłńóśźż",
    "Czech": "áčďéěíňóřšťúůýž",
    "Slovak": "áäčďéíĺľňóôŕšťúýž",
    "Hungarian": "áéíóöőúüű",
    "Romanian": "ăâîşţ",
    "Croatian": "čćđšž",
    "German": "äöüß",
}
CYRILLIC: Final[dict[str, str]] = {
    "Russian": _RUSSIAN,
    "Ukrainian": _UKRAINIAN,
    "Bulgarian": _BULGARIAN,
    "Serbian": _SERBIAN,
}

LATIN_TURKISH: Final[dict[str, str]] = {"Turkish": "çğıöşüâîİ"}
LATIN_BALTIC: Final[dict[str, str]] = {
    "Lithuanian": "ąčęėįšųūž",
    "Latvian": "āčēģīķļņšūž",
    "Estonian": "äõöüšž",
}
#: Letters that make up most of Greek text, and the one that ends words only.
GREEK_COMMON: Final = frozenset("αοιετσνηυρπκμλςάέήίόύώ")
GREEK_FINAL: Final = "ς"
#: Hebrew letters that end words only.
HEBREW_FINALS: Final = frozenset("ךםןףץ")
#: Arabic letters that end words only.
ARABIC_FINALS: Final = frozenset("ةى")
#: Syllables that Korean names, addresses and headers are full of.
KOREAN_COMMON: Final = frozenset(
    "가나다라마바사아자차카타하이김박최정강조윤장임한오서신권황안송류홍전고문양손배백허유남심노곽성주우구"
    "민진지도시군동로길번호화소명연락처대학교울부산인천기경상충청제은는을의에수현영미희선전회사름메일"
)

#: Letters that make up four fifths of Cyrillic text.
CYRILLIC_COMMON: Final = frozenset("оеаинтсрвлкмдпуя")

#: Signs that western and central European text uses.
SIGNS: Final = frozenset("‘’‚“”„–—…«»‹›§°·•ªº¿¡©®™¬´\u00a0№،؛؟")
#: Signs that stand beside an amount.
CURRENCIES: Final = frozenset("€£¥")
#: Signs that follow a figure or a metre.
FIGURE_SIGNS: Final = frozenset("½¼¾²³±×")
#: Signs that may stand between two letters.
INNER_SIGNS: Final = frozenset("’‘–—·\u00a0¬´…")

#: Characters that names, addresses and everyday text are full of.
JAPANESE_COMMON: Final = frozenset(
    "日本東京都大阪府県市区町村田中山川藤佐木高井橋鈴小林加伊渡吉松清森池石前岡長野崎島原千葉"
    "子一二三四五六七八九十上下内外東西南北名電話番号所在地社株式会様人年月学校病院福祉健康"
)
SIMPLIFIED_COMMON: Final = frozenset(
    "的一是不了在人有我他这中大来上国王李张刘陈杨赵黄周吴徐孙马朱胡林郭何高罗"
    "省市区县路号街北京海广州深圳电话姓名地址公司客户编手机码小明华伟强红丽"
)
TRADITIONAL_COMMON: Final = frozenset(
    "的一是不我在人有他這中大來上國陳林黃張李王吳劉蔡楊許鄭謝洪郭邱曾廖賴徐"
    "市區路街號巷縣鄉鎮台臺北高雄電話姓名地址公司客戶編手機碼小明華志美"
)
#: Thai vowels are written before, above, below and behind their consonant.
THAI_CONSONANTS: Final = frozenset(map(chr, range(0x0E01, 0x0E2F)))
THAI_LEADING: Final = frozenset("เแโใไ")
THAI_RARE: Final = frozenset("ฃฅฆฌฎฏฑฒฬฮ")
