"""A country as people write it to the ISO region of its phone numbers.

Codes of two and three letters, dialing codes (`+44`, `0044`, `44`), and names in the languages of
this package and some more, as phonenumbers' own table has them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Final

import phonenumbers

from dialframe.leads import headers
from dialframe.opt_outs import plain

#: The region of national numbers: one for all rows, or one each.
Regions = list[str | None] | str | None

_DIALED: Final = re.compile(r"\s*(?:\+|00)?\s*\(?(\d{1,4})\)?(?:\.0+)?\s*")
_PLUS: Final = re.compile(r"\+\s?(\d{1,4})\b")
_LANGUAGES: Final = ("en", "es", "fr", "de", "pt", "ja", "it", "nl")
_CANADA_AND_MORE: Final = 1
_LONGEST_CHARS: Final = 200
_LONGEST_NAME: Final = 60
#: Codes of three letters.
_ISO3: Final = {
    pair[:3]: pair[4:]
    for pair in [
        "AFG:AF",
        "ALB:AL",
        "DZA:DZ",
        "AND:AD",
        "AGO:AO",
        "ATG:AG",
        "ARG:AR",
        "ARM:AM",
        "ABW:AW",
        "AUS:AU",
        "AUT:AT",
        "AZE:AZ",
        "BHS:BS",
        "BHR:BH",
        "BGD:BD",
        "BRB:BB",
        "BLR:BY",
        "BEL:BE",
        "BLZ:BZ",
        "BEN:BJ",
        "BMU:BM",
        "BTN:BT",
        "BOL:BO",
        "BIH:BA",
        "BWA:BW",
        "BRA:BR",
        "BRN:BN",
        "BGR:BG",
        "BFA:BF",
        "BDI:BI",
        "KHM:KH",
        "CMR:CM",
        "CAN:CA",
        "CPV:CV",
        "CYM:KY",
        "CAF:CF",
        "TCD:TD",
        "CHL:CL",
        "CHN:CN",
        "COL:CO",
        "COM:KM",
        "COG:CG",
        "COD:CD",
        "CRI:CR",
        "CIV:CI",
        "HRV:HR",
        "CUB:CU",
        "CYP:CY",
        "CZE:CZ",
        "DNK:DK",
        "DJI:DJ",
        "DMA:DM",
        "DOM:DO",
        "ECU:EC",
        "EGY:EG",
        "SLV:SV",
        "GNQ:GQ",
        "ERI:ER",
        "EST:EE",
        "ETH:ET",
        "FJI:FJ",
        "FIN:FI",
        "FRA:FR",
        "GAB:GA",
        "GMB:GM",
        "GEO:GE",
        "DEU:DE",
        "GHA:GH",
        "GIB:GI",
        "GRC:GR",
        "GRD:GD",
        "GTM:GT",
        "GIN:GN",
        "GUY:GY",
        "HTI:HT",
        "HND:HN",
        "HKG:HK",
        "HUN:HU",
        "ISL:IS",
        "IND:IN",
        "IDN:ID",
        "IRN:IR",
        "IRQ:IQ",
        "IRL:IE",
        "ISR:IL",
        "ITA:IT",
        "JAM:JM",
        "JPN:JP",
        "JOR:JO",
        "KAZ:KZ",
        "KEN:KE",
        "KWT:KW",
        "KGZ:KG",
        "LAO:LA",
        "LVA:LV",
        "LBN:LB",
        "LSO:LS",
        "LBR:LR",
        "LBY:LY",
        "LIE:LI",
        "LTU:LT",
        "LUX:LU",
        "MAC:MO",
        "MKD:MK",
        "MDG:MG",
        "MWI:MW",
        "MYS:MY",
        "MDV:MV",
        "MLI:ML",
        "MLT:MT",
        "MRT:MR",
        "MUS:MU",
        "MEX:MX",
        "MDA:MD",
        "MCO:MC",
        "MNG:MN",
        "MNE:ME",
        "MAR:MA",
        "MOZ:MZ",
        "MMR:MM",
        "NAM:NA",
        "NPL:NP",
        "NLD:NL",
        "NZL:NZ",
        "NIC:NI",
        "NER:NE",
        "NGA:NG",
        "NOR:NO",
        "OMN:OM",
        "PAK:PK",
        "PAN:PA",
        "PNG:PG",
        "PRY:PY",
        "PER:PE",
        "PHL:PH",
        "POL:PL",
        "PRT:PT",
        "PRI:PR",
        "QAT:QA",
        "REU:RE",
        "ROU:RO",
        "RUS:RU",
        "RWA:RW",
        "SAU:SA",
        "SEN:SN",
        "SRB:RS",
        "SYC:SC",
        "SLE:SL",
        "SGP:SG",
        "SVK:SK",
        "SVN:SI",
        "SOM:SO",
        "ZAF:ZA",
        "KOR:KR",
        "ESP:ES",
        "LKA:LK",
        "SDN:SD",
        "SUR:SR",
        "SWE:SE",
        "CHE:CH",
        "SYR:SY",
        "TWN:TW",
        "TJK:TJ",
        "TZA:TZ",
        "THA:TH",
        "TGO:TG",
        "TTO:TT",
        "TUN:TN",
        "TUR:TR",
        "TKM:TM",
        "UGA:UG",
        "UKR:UA",
        "ARE:AE",
        "GBR:GB",
        "USA:US",
        "URY:UY",
        "UZB:UZ",
        "VEN:VE",
        "VNM:VN",
        "YEM:YE",
        "ZMB:ZM",
        "ZWE:ZW",
        "GLP:GP",
        "MTQ:MQ",
        "GUF:GF",
        "GUM:GU",
        "VIR:VI",
        "ASM:AS",
        "JEY:JE",
        "GGY:GG",
        "IMN:IM",
        "FRO:FO",
        "GRL:GL",
        "PSE:PS",
        "GER:DE",
        "ENG:GB",
        "SCO:GB",
        "WAL:GB",
        "UAE:AE",
    ]
}
#: Names that the table of phonenumbers does not have.
_ALIASES: Final = {
    plain(name): region
    for region, names in {
        "US": "usa | us | u.s. | u.s.a. | united states | united states of america | america"
        "| the united states | estados unidos | estados unidos de america | eeuu | ee. uu. | eua"
        "| ee.uu. | e.e.u.u. | etats-unis | etats unis d'amerique | vereinigte staaten | amerika"
        "| vereinigte staaten von amerika | アメリカ | 米国 | アメリカ合衆国 | stati uniti",
        "GB": "uk | u.k. | united kingdom | great britain | britain | england | scotland | wales"
        "| northern ireland | reino unido | gran bretana | inglaterra | royaume-uni | angleterre"
        "| grande-bretagne | ecosse | grossbritannien | großbritannien | vereinigtes königreich"
        "| england/uk | schottland | gra bretanha | イギリス | 英国 | united kingdom of great britain"
        "| the united kingdom | escocia | regno unito",
        "DE": "germany | deutschland | brd | d | ger | bundesrepublik deutschland | alemania"
        "| allemagne | alemanha | ドイツ | 独国",
        "FR": "france | frankreich | francia | franca | france metropolitaine | フランス | f",
        "ES": "spain | espana | espagne | spanien | espanha | スペイン | e",
        "IT": "italy | italia | italie | italien | イタリア",
        "AT": "austria | österreich | oesterreich | autriche | a | オーストリア",
        "CH": "switzerland | schweiz | suisse | suiza | suica | svizzera | スイス | ch",
        "NL": "netherlands | the netherlands | holland | niederlande | pays-bas | paises bajos"
        "| holanda | nederland | オランダ",
        "JP": "japan | nippon | 日本 | 日本国 | japon | japao | giappone",
        "BR": "brazil | brasil | bresil | brasilien | ブラジル",
        "PT": "portugal | ポルトガル",
        "MX": "mexico | mexique | mexiko | méjico | メキシコ",
        "CA": "canada | kanada | カナダ",
        "KR": "south korea | korea | republic of korea | korea republic of | corea del sur"
        "| coree du sud | südkorea | coreia do sul | 韓国",
        "CN": "china | chine | prc | people s republic of china | 中国",
        "RU": "russia | russian federation | rusia | russie | russland | ロシア",
        "CZ": "czech republic | czechia | tschechien | republica checa | republique tcheque",
        "AE": "united arab emirates | uae | u.a.e. | emiratos arabes unidos | dubai",
        "IE": "ireland | republic of ireland | eire | irlanda | irlande | irland",
        "BE": "belgium | belgique | belgien | belgica | belgie",
        "AU": "australia | australie | australien | オーストラリア",
        "TR": "turkey | turkiye | türkei | turquia | turquie",
        "VN": "vietnam | viet nam",
        "HK": "hong kong | hongkong | 香港",
        "TW": "taiwan | 台湾",
    }.items()
    for name in names.split("|")
}


@lru_cache(maxsize=4096)
def read_region(cell: str) -> str | None:
    """The ISO 3166 region that a cell of a country column names, None for none that is known.

    `Germany`, `DE`, `deu`, `+49`, `0049`, `49`, `Alemania`, `Germany (+49)`; of a dialing code
    that several regions share, the main one, whose numbers are written alike.
    """
    cell = cell.strip()
    if len(cell) > _LONGEST_CHARS:
        return None
    words = plain(cell)
    if not words or len(words) > _LONGEST_NAME:
        return None
    if dialed := _DIALED.fullmatch(cell.replace("-", "")):
        return _of_code(dialed[1])
    # `U.S.A.` is a code; `n/a` is no Namibia.
    compact = "" if "/" in cell else words.replace(" ", "").upper()
    if compact == "UK":
        return "GB"
    if compact in phonenumbers.SUPPORTED_REGIONS:
        return compact
    found = _ALIASES.get(words) or _ISO3.get(compact) or _named().get(words)
    if found is None and (plus := _PLUS.search(cell)):
        return _of_code(plus[1])
    if found is None and " " in words:
        codes = {known for token in cell.split() if (known := _code(token))}
        return codes.pop() if len(codes) == 1 else None
    return found


def _each(words: str) -> frozenset[str]:
    return frozenset(words.split())


#: Codes that mean something else in headers: `Phone No`, `Tel. Nr`, `AM`, `Phone ID`, `pr.` for private.
_NO_CODES: Final = _each("AC AM CC ID LA ME MO MR NO NR PM PR TC TL TN")
#: Those that do as first words, `HR phone`, and those that are words where capitals say nothing, `my phone`.
_NOT_FIRST: Final = _each("ER GM HR PT")
_WORDS_TOO: Final = _each("AD AI AS AT BE CO DE DO GF IN IS IT MA MY NE PA RE SE SI SO TO")
_SPANISH_PHONES: Final = _each("cel celular fijo movil tel telefono")
_NOT_IN_HEADERS: Final = _each("AND ARE COD COM DOM EST GUM LIE MAC MAR NAM PAN PER PRI SEN SUR")
_WORDS_OF_THREE: Final = _each("AUT CAN COL FIN IND NOR POL")
_SHORTEST_NAME: Final = 3
_LONGEST_RUN: Final = 3
_TOKENS: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|[\W\d_]+")
_BRACKETED: Final = re.compile(r"[(\[]\s*([A-Z]{2,3})\s*[)\]]")
#: Nationalities and names in headers; the table of phonenumbers takes too long for each list.
_IN_HEADERS: Final = {
    plain(name): region
    for region, names in {
        "US": "american | americano | americana | amerikanisch | amerikanische | americain"
        " | americaine | estadounidense",
        "MX": "mexican | mexicano | mexicana | mexikanisch | mexicain | messico",
        "CA": "canadian | canadiense | kanadisch | canadien",
        "GB": "british | britisch | britische | britanico | britannique",
        "DE": "german | deutsch | deutsche | deutsches | aleman | alemana | allemand | duits | tedesco"
        " | germania | duitsland",
        "AT": "austrian | österreichisch | österreichische | autrichien | oostenrijk",
        "CH": "swiss | schweizer | suizo | svizzero | zwitserland",
        "FR": "french | französisch | französische | frances | francais | frankrijk",
        "ES": "spanish | español | española | espagnol | spanisch | spanje | spagna",
        "IT": "italian | italiano | italiana | italien | italienisch",
        "NL": "dutch | niederländisch | nederlands | nederlandse | holandes | neerlandais",
        "BE": "belgian | belgisch | belgische | belge | belga",
        "PT": "portuguese | portugues | portugais | portugiesisch",
        "BR": "brazilian | brasileño | brasileiro | bresilien | brasilianisch",
        "IE": "irish | irisch | irlandes | irlandais",
        "PL": "poland | polska | polen | polonia | pologne | polish | polnisch | polski",
        "CZ": "czech | tschechisch | cesko",
        "DK": "denmark | danmark | dänemark | dinamarca | danemark | danish | dansk",
        "SE": "sweden | sverige | schweden | suecia | suede | swedish | svensk | svenskt",
        "NO": "norway | norge | norwegen | noruega | norvege | norwegian | norsk",
        "FI": "finland | suomi | finnland | finlandia | finlande | finnish",
        "HU": "hungary | ungarn | hungria | hongrie | magyar | hungarian",
        "RO": "romania | rumänien | rumania | roumanie | romanian",
        "GR": "greece | griechenland | grecia | grece | greek",
        "TR": "turkish | türkisch | türk",
        "RU": "russian | russisch",
        "UA": "ukraine | ucrania | ukrainian | ukrainisch",
        "CO": "colombia | kolumbien | colombie | colombian | colombiano | colombiana",
        "AR": "argentina | argentinien | argentine | argentino",
        "CL": "chile | chili | chilean | chileno",
        "PE": "peru | perou | peruvian | peruano",
        "EC": "ecuador | equateur | ecuatoriano",
        "VE": "venezuela | venezolano",
        "IN": "india | indien | inde | indian",
        "PK": "pakistan | pakistani",
        "PH": "philippines | filipinas | philippinen | filipino",
        "ID": "indonesia | indonesien | indonesie",
        "MY": "malaysia | malaysian",
        "SG": "singapore | singapur | singapour",
        "TH": "thailand | tailandia | thai",
        "JP": "japanese | japanisch | japones",
        "CN": "chinese | chinesisch | chino",
        "KR": "korean | koreanisch",
        "AU": "australian | australisch",
        "NZ": "new zealand | neuseeland | nueva zelanda",
        "ZA": "south africa | südafrika | sudafrica",
        "NG": "nigeria | nigerian",
        "EG": "egypt | ägypten | egipto | egypte | egyptian",
        "MA": "morocco | maroc | marokko | marruecos",
        "IL": "israel | israeli",
    }.items()
    for name in names.split("|")
}


@lru_cache(maxsize=512)
def named_regions(header: str) -> frozenset[str]:
    """The countries that the header of a phone column names: `Mobil CH`, `Tel. (UK)`, `phone_us`, `Cell Mexico`.

    Args:
        header: The header; `No`, `ID` and the like in it are no codes.
    """
    text = header[:_LONGEST_NAME]
    tokens = [token for token in _TOKENS.split(text) if token]
    words = plain(text).split()
    names = {
        region
        for size in range(1, _LONGEST_RUN + 1)
        for at in range(len(words) - size + 1)
        if (region := _name_in_header(" ".join(words[at : at + size])))
        and words[at - 1 : at] != ["new"]
    }
    codes = {_code(bracketed) for bracketed in _BRACKETED.findall(text)}
    codes |= {_of_code(digits) for digits in _PLUS.findall(text)}
    if len(tokens) > 1:
        codes.add(_last_code(tokens, words))
        codes.add(_first_code(tokens))
        codes |= {
            _header_code(token, "".join(words))  # the words are in lower case
            for token in tokens[1:-1]
            if token.isupper() and not text.isupper() and token not in _NO_CODES | {"PH"}
        }
    return frozenset(region for region in (*names, *codes) if region)


def _name_in_header(name: str) -> str | None:
    if len(name) < _SHORTEST_NAME:
        return None
    return _IN_HEADERS.get(name) or _ALIASES.get(name)


def _last_code(tokens: Sequence[str], words: Sequence[str]) -> str | None:
    *rest, last = tokens
    code = last.upper()
    if code == "NO" and {"telefon", "mobil", "mobiltelefon", "tlf"}.intersection(words[:-1]):
        return code
    if code in _NO_CODES or (code == "PH" and not headers.PHONE_WORDS.intersection(words[:-1])):
        return None
    if code == "CO" and not last.isupper() and not _SPANISH_PHONES.intersection(words[:-1]):
        return None
    return _header_code(last, "".join(rest))


def _first_code(tokens: Sequence[str]) -> str | None:
    first, *rest = tokens
    code, others = first.upper(), "".join(rest)
    if code in _NO_CODES or code in _NOT_FIRST or code == "PH":
        return None
    if code in _WORDS_TOO and (not first.isupper() or others.isupper()):
        return None
    return _header_code(first, others)


def _header_code(token: str, others: str) -> str | None:
    """A code in a header: in capitals beside other letters, or in one case with all of them."""
    if token.isupper() or (token.islower() and others.islower()):
        code = token.upper()
        plainly = token.isupper() and not others.isupper()
        if code in _NOT_IN_HEADERS or (code in _WORDS_OF_THREE and not plainly):
            return None
        return _code(code)
    return None


def _of_code(digits: str) -> str | None:
    code = int(digits)
    # 1-242, 1-809 and the like are written as one code; all of them are of the plan of +1.
    if digits.startswith("1") and len(digits) == len("1242"):
        code = _CANADA_AND_MORE
    region = phonenumbers.region_code_for_country_code(code)
    return region if region in phonenumbers.SUPPORTED_REGIONS else None


def _code(token: str) -> str | None:
    """A code of two letters that stands in capitals beside a name: `DE - Germany`, `Perú (PE)`."""
    bare = token.strip("()[]-–,;:/")
    if not bare.isupper():
        return None
    if bare == "UK":
        return "GB"
    return bare if bare in phonenumbers.SUPPORTED_REGIONS else _ISO3.get(bare)


@cache
def _named() -> dict[str, str]:
    """Region by name; the table is large, so it is loaded when a name asks for it."""
    from phonenumbers.geodata.locale import LOCALE_DATA

    named: dict[str, str] = {}
    for region, names in LOCALE_DATA.items():
        if region not in phonenumbers.SUPPORTED_REGIONS:
            continue
        for language in _LANGUAGES:
            name = names.get(language, "")
            while name.startswith("*"):
                name = names.get(name[1:], "")
            if name:
                named.setdefault(plain(name), region)
    return named


def country_name(region: str) -> str:
    """The English name of a region, or its code where there is none."""
    from phonenumbers.geodata.locale import LOCALE_DATA

    name = LOCALE_DATA.get(region, {}).get("en", region)
    while name.startswith("*"):
        name = LOCALE_DATA[region].get(name[1:], region)
    return name
