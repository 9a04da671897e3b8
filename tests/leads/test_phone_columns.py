"""A column of phone cells says what `read_phone` says of each."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialframe import arrow_text
from dialframe.leads.columns.country_names import Regions
from dialframe.leads.phone_columns import FOUND, NOTHING_SAID, TYPES, read_phones
from dialframe.leads.phones_in_cells import PhoneReading, read_phone
from dialframe.leads.reasons import REASONS

SEEDS = [
    "2125550142", "(212) 555-0142", "212-555-0142", "+1 212 555 0142", "212.555.0142", "2125550142.0",
    "+12125550142.00", "12125550142,0", "212-555-0142 x12", "212-555-0142 ext. 9", "020 7946 0123",
    "2079460123", "+44 20 7946 0123", "7700900123", "07700 900123", "0044 20 7946 0123", "n/a", "", " ",
    "-", "none", "(none)", "0000000000", "1234567890", "2125550142 / 2125550143", "212/555-0142", "+",
    "2,125,550,142", "2.125.550.142", "212.555.014", "2.12555E+9", "2.125550142E+9", "2e5", "12", "12345",
    '="2125550142"', "'2125550142", "2125550142 Bob", "home: 212-555-0142", "() 2125550142", "(212) () 5550142",
    "(212 5550142", "1-800-FLOWERS", "2125550142 or 2125550143", "２１２５５５０１４２", "212\u00a0555\u00a00142",
    "212  555 0142", "212-555-0142 ", "212-555-0142\n212-555-0143", "+49 30 23125 123", "3023125123", "911",
    "9876543210", "5555555555", "2222222", "+1 (212) 555-0142;ext=5", "212-555-0142,", "2125550142999", "0.0",
    "123456.0", "111111.0", "123456.00", "212555014.2", "+2125550142.0", "(+1) 212 555 0142", "1.2.3.4",
    *(f"{one}{between}{one.replace('142', '143')}" for between in (" ", ";", "\n", " - ", "|", "\t")
      for one in ("2125550142", "(212) 555-0142", "+12125550142", "+1 212 555 0142", "020 7946 0142")),
]  # fmt: skip


def expected(cells: list[str], region: str | None) -> list[PhoneReading]:
    # A column keeps the second number of a cell; whoever wants all of them reads the cell again.
    return [read_phone(cell, region)._replace(more=()) for cell in cells]


def found(cells: list[str], region: Regions) -> list[PhoneReading]:
    phones = read_phones(arrow_text.column(cells), region)
    return [
        PhoneReading(
            e164,
            extension,
            other,
            phones.regions[place] if e164 and place >= 0 else None,
            None if reason == FOUND else REASONS[reason].code,
            phones.warnings[warned],
            TYPES[kind] if e164 and kind >= 0 else None,
            None if remark == NOTHING_SAID else REASONS[remark].code,
        )
        for e164, extension, other, place, reason, warned, kind, remark in zip(
            phones.e164.to_pylist(),
            phones.extension.to_pylist(),
            phones.other.to_pylist(),
            phones.region.tolist(),
            phones.reason.tolist(),
            phones.warned.tolist(),
            phones.kind.tolist(),
            phones.remark.tolist(),
            strict=True,
        )
    ]


@pytest.mark.parametrize("region", ["US", "GB", "DE", None])
def test_cells_as_lists_have_them(region):
    """One by one and as a column, with and without a region."""
    assert found(SEEDS, region) == expected(SEEDS, region)


def test_a_region_for_each_cell():
    """As a country column gives it."""
    regions = (["US", "GB", "DE", None] * len(SEEDS))[: len(SEEDS)]
    each = [read_phone(cell, region) for cell, region in zip(SEEDS, regions, strict=True)]

    assert found(SEEDS, regions) == each


@given(
    st.lists(
        st.one_of(
            st.text(alphabet="0123456789+-(). /,xeE'=", max_size=16),
            st.builds(
                lambda seed, at, sign: seed[:at] + sign + seed[at:],
                st.sampled_from(SEEDS),
                st.integers(0, 12),
                st.sampled_from([*" .,0-()+x/eE1", "", "\t", "é"]),
            ),
        ),
        max_size=20,
    ),
    st.sampled_from(["US", "GB", "DE", None]),
)
@settings(deadline=None, max_examples=150)
def test_any_cells(cells, region):
    """Whatever stands in them."""
    assert found(cells, region) == expected(cells, region)
