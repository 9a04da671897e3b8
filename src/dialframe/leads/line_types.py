"""Numbers that are valid and still not a lead's: premium lines, and those reserved for fiction; data and one rule."""

from __future__ import annotations

import re
from typing import Final

from dialframe.leads.phone_cells import PhoneReading
from dialframe.leads.rules import Policy

#: Numbers that regulators keep free for films and samples (NANPA 555-01XX, Ofcom, ACMA, ARCEP,
#: Bundesnetzagentur), in E.164.
RESERVED: Final = re.compile(
    r"\+1[2-9]\d{2}55501\d{2}|\+44(?:20794\d|113496|114496|115496|116496|117496|118496|121496"
    r"|131496|141496|151496|161496|191498|28960|29201|1632960|7700900|8081570|9098790|3069990)\d+"
    r"|\+61(?:[2378]5550|[2378]7010)\d{4}|\+61491570(?:006|15[6-9]|737)|\+6118\d{2}975\d{3}"
    r"|\+33(?:1990|2619|3530|4653|5364|63998)\d+|\+49(?:3023125|40669696|22144?4|17139200)\d+"
)


def fit(reading: PhoneReading, policy: Policy) -> PhoneReading:
    """The reading as the policy takes it: refused, with a warning, or as it is."""
    if not reading.e164:
        return reading
    if reading.type in policy.refused_types:
        return PhoneReading(reason="phone_line_type", remark=reading.remark)
    codes = ["phone_line_type"] if reading.type in policy.warned_types else []
    if policy.reserved_number != "keep" and RESERVED.fullmatch(reading.e164):
        if policy.reserved_number == "reject":
            return PhoneReading(reason="phone_reserved", remark=reading.remark)
        codes.append("phone_reserved")
    return reading._replace(warnings=(*reading.warnings, *codes)) if codes else reading
