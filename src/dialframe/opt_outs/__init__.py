"""Whether a person has refused to be called: flag columns, screening codes, and phrases that sound like it.

Two steps. A column that is *named* as a flag (`flag_of`) is obeyed by a table of yes and no (`read_flag`). Whatever
else sounds like a refusal (`find_phrase`) decides nothing: it is put to a person. Some twelve languages; names,
answers, phrases and codes are tables beside this file, each read in texts of its own script alone.

Example:
    >>> from dialframe import opt_outs
    >>> opt_outs.read_flag(opt_outs.flag_of("Acepta ser contactado"), "No")
    'no'
    >>> opt_outs.is_refusal("asked us to stop calling")
    True
"""

from dialframe.opt_outs.answers import (
    Answer,
    ResultCode,
    is_answer,
    plain_yes,
    read_answer,
    read_channels,
    read_consent,
    read_flag,
    read_right_number,
    read_screened,
    read_screening,
    result_codes,
)
from dialframe.opt_outs.flags import Flag, FlagKind, flag_of
from dialframe.opt_outs.phrases import Phrase, Says, find_phrase, is_refusal
from dialframe.opt_outs.text import plain, plain_parts

__all__ = [
    "Answer",
    "Flag",
    "FlagKind",
    "Phrase",
    "ResultCode",
    "Says",
    "find_phrase",
    "flag_of",
    "is_answer",
    "is_refusal",
    "plain",
    "plain_parts",
    "plain_yes",
    "read_answer",
    "read_channels",
    "read_consent",
    "read_flag",
    "read_right_number",
    "read_screened",
    "read_screening",
    "result_codes",
]
