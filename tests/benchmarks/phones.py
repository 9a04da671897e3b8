"""How many times faster a column is read than by a loop over phonenumbers, in CPU time of this process.

    python -m benchmarks.phones [ROWS]     # from tests

The columns are of one country's usual shapes, mixed and messy, and mixed with 17% of cells beyond ASCII; phonenumbers has its pattern cache on and is timed on samples
of it, between the runs of the others, so that a busy machine slows all of them alike.
"""

from __future__ import annotations

import itertools
import random
import statistics
import sys
from collections.abc import Callable

import pandas as pd
import phonenumbers
import pyarrow as pa
from phonenumbers import PhoneMetadata, PhoneNumberFormat, re_util

from benchmarks.timing import in_turn
from dialframe.phones import column_reader, normalize
from phones.samples import WIDE, sampled

SAMPLE = 4_000
ROUNDS = 9
SHAPES = ["({}) {}-{}", "{}-{}-{}", "{}{}{}", "{}.{}.{}", "+1{}{}{}", "+1 {} {} {}", "{} {} {}",
          "1-{}-{}-{}", "1{}{}{}", "+1 ({}) {}-{}", "({}){}-{}", " {}-{}-{} ", "011 1 {} {} {}"]  # fmt: skip
WEIGHTS = [16, 18, 22, 10, 10, 4, 6, 5, 5, 5, 3, 1, 0.1]
LABELS = [" x", " ext ", " ext. ", "x", " Ext ", " #", ", ext ", " extension ", ";ext=", " X"]
VANITY = ["1-800-FLOWERS", "1 800 CONTACT", "(800) MATTRES", "1-888-LAWYERS", "800-GO-FEDEX"]
NOTHING = ["N/A", "", "none", "null", "-", "unknown", "n/a", "call back", "DNC", "0", "0000000000"]
NOTES = [" home", " cell", " mobile", " (cell)", " wk", " Bob"]
BEFORE = ["Tel: ", "ph ", "p:", "cell ", "'", "="]
WORDS = ["Tél. ", "Móvil: ", "電話：", "☎ ", "📞 ", "тел. "]
BEYOND_ASCII = 0.18
ABROAD = ["GB", "DE", "FR", "AU", "IN", "MX", "BR", "CA"]


def main() -> None:
    """Measure and print."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    re_util.enable_pattern_cache()
    rng = random.Random(7)
    measure("usual shapes, ASCII", [american(rng) for _ in range(rows)])
    measure("mixed, messy", [messy(rng) for _ in range(rows)])
    beyond = [odd(rng) if rng.random() < BEYOND_ASCII else messy(rng) for _ in range(rows)]
    measure("mixed, with other scripts", beyond)


def measure(title: str, texts: list[str]) -> None:
    """Time one column and print it."""
    rows, rng = len(texts), random.Random(1)
    column = pa.array(texts, pa.large_string())
    series = pd.Series(texts, dtype="str")
    samples = itertools.cycle([rng.sample(texts, SAMPLE) for _ in range(ROUNDS)])
    contenders: dict[str, tuple[int, Callable[[], object]]] = {
        "phonenumbers": (SAMPLE, lambda: by_phonenumbers(next(samples))),
        "read_column": (rows, lambda: column_reader.read_column(column, "US")),
        "normalize(Series)": (rows, lambda: normalize(series, "US")),
    }
    spent = {
        name: [seconds / contenders[name][0] * 1e9 for seconds in times]
        for name, times in in_turn({name: run for name, (_, run) in contenders.items()}, ROUNDS).items()
    }  # fmt: skip
    done = column_reader.read_column(column, "US")
    wide = sum(not text.isascii() for text in texts)
    print(f"{title}: {rows} rows, {wide / rows:.1%} beyond ASCII, {done.e164.null_count / rows:.1%} not valid")  # fmt: skip
    base = statistics.median(spent["phonenumbers"])
    for name, times in spent.items():
        middle = statistics.median(times)
        print(
            f"{name:>18} {middle:>9.1f} ns a row (best {min(times):.1f}) {base / middle:>6.0f} x"
        )


def by_phonenumbers(texts: list[str]) -> list[tuple[object, ...]]:
    """The same facts for each text by phonenumbers, without the reasons."""
    out: list[tuple[object, ...]] = []
    for text in texts:
        try:
            number = phonenumbers.parse(text, "US")
        except phonenumbers.NumberParseException as problem:
            out.append((problem.error_type,))
            continue
        out.append(
            (
                phonenumbers.is_possible_number(number),
                phonenumbers.is_valid_number(number),
                phonenumbers.region_code_for_number(number),
                phonenumbers.number_type(number),
                number.extension,
                phonenumbers.format_number(number, PhoneNumberFormat.E164),
            )
        )
    return out


def messy(rng: random.Random) -> str:
    """One cell: 70% American, 15% from abroad, 10% no number, the rest odd."""
    draw = rng.random()
    if draw < 0.60:
        return american(rng)
    if draw < 0.75:
        return foreign(rng)
    if draw < 0.85:
        return broken(rng)
    if draw < 0.88:
        return american(rng).strip() + rng.choice(LABELS) + digits(rng, rng.randint(2, 5))
    if draw < 0.885:
        return rng.choice(VANITY)
    if draw < 0.895:
        return odd(rng)
    if draw < 0.90:
        return american(rng).strip() + rng.choice([" / ", " or ", ", ", "; "]) + american(rng)
    return american(rng)


def american(rng: random.Random) -> str:
    """A number of the US in one of the ways in which they are written there."""
    kind = "toll_free" if rng.random() < 0.1 else "fixed_line"
    number = sampled(
        rng, getattr(PhoneMetadata.metadata_for_region("US"), kind).national_number_pattern
    )
    return rng.choices(SHAPES, WEIGHTS)[0].format(number[:3], number[3:6], number[6:])


def foreign(rng: random.Random) -> str:
    """A number of another country, as written there or for abroad."""
    meta = PhoneMetadata.metadata_for_region(rng.choice(ABROAD))
    desc = rng.choice([meta.fixed_line, meta.mobile])
    national = sampled(rng, desc.national_number_pattern)
    number = phonenumbers.PhoneNumber(
        country_code=meta.country_code, national_number=int(national)
    )
    draw = rng.random()
    if draw < 0.25:
        return phonenumbers.format_number(number, PhoneNumberFormat.INTERNATIONAL)
    if draw < 0.45:
        return phonenumbers.format_number(number, PhoneNumberFormat.E164)
    if draw < 0.80:
        return phonenumbers.format_number(number, PhoneNumberFormat.NATIONAL)
    return rng.choice(["00", "00", "011", ""]) + f"{meta.country_code}{national}"


def broken(rng: random.Random) -> str:
    """What stands in the phone column and is no valid number, or hardly."""
    number = american(rng).strip()
    return rng.choice(
        [
            lambda: digits(rng, rng.randint(1, 6)),
            lambda: digits(rng, rng.randint(11, 18)),
            lambda: f"({rng.choice('01')}{digits(rng, 2)}) {digits(rng, 3)}-{digits(rng, 4)}",
            lambda: f"212-555-01{digits(rng, 2)}",
            lambda: rng.choice(NOTHING),
            lambda: f"{digits(rng, 1)}.{digits(rng, rng.randint(1, 5))}E+9",
            lambda: digits(rng, 10) + ".0",
            lambda: number + rng.choice(NOTES),
            lambda: rng.choice(BEFORE) + number,
            lambda: digits(rng, 3) + "-" + digits(rng, 4),
        ]
    )()


def odd(rng: random.Random) -> str:
    """A number in another script, or with what word processors, chats and address books leave."""
    number = american(rng)
    return rng.choice(
        [
            lambda: number.translate(rng.choice(WIDE)),
            lambda: broken(rng).translate(rng.choice(WIDE)),
            lambda: foreign(rng).translate(rng.choice(WIDE)),
            lambda: number.replace(" ", "\u00a0").replace("-", "\u2011"),
            lambda: number.replace("-", "–"),
            lambda: number + "\u00a0ext.\u00a0" + digits(rng, 3),
            lambda: rng.choice("\u200b\u200e\u200f\ufeff") + number,
            lambda: "\u202a" + number + "\u202c",
            lambda: rng.choice(WORDS) + number,
            lambda: number + rng.choice([" (Büro)", " · ", " • cell", "…", " 日本"]),
        ]
    )()


def digits(rng: random.Random, count: int) -> str:
    """So many digits."""
    return "".join(rng.choices("0123456789", k=count))


if __name__ == "__main__":
    main()
