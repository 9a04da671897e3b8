"""Numbers that are valid and still not a lead's: premium lines, and those reserved for fiction; data and one rule."""

from __future__ import annotations

import re
from typing import Final

from dialframe.leads.judging.phone_cells import PhoneReading
from dialframe.leads.judging.rules import Policy

#: Numbers that regulators keep free for films and samples (NANPA 555-01XX, Ofcom, ACMA, ARCEP,
#: Bundesnetzagentur), in E.164.
RESERVED: Final = re.compile(
    r"\+1[2-9]\d{2}55501\d{2}"
    r"|\+44(?:2079460|1134960|1144960|1154960|1164960|1174960|1184960|1214960|1314960|1414960"
    r"|1514960|1614960|1914980|2896496|2920180|1632960|7700900|8081570|9098790|3069990)\d{3}"
    r"|\+61[2378](?:5550|7010)\d{4}|\+61491570(?:006|15[6-9]|737)"
    r"|\+33(?:19900|26191|35301|46571|53649|63998)\d{4}"
    r"|\+49(?:3023125|6990009|4066969|2214710|8999998)\d{3}|\+49(?:17139200|176040690)\d{2}"
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
