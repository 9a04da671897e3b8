"""Whether a person has refused to be called: notes, dispositions, flags and screening codes, read.

Some thirty languages; the words, rules, answers and codes are tables beside this file.

Example:
    >>> from dialframe import opt_outs
    >>> opt_outs.is_refusal("will sue if we call again")
    True
"""

from dialframe.opt_outs.remarks import (
    Remark,
    Scope,
    Stance,
    counts_doubts,
    is_refusal,
    prohibits,
    read_remark,
    read_stance,
    scope_of,
)
from dialframe.opt_outs.words import (
    classes_of,
    is_suspect,
    plain,
    plain_parts,
    text_parts,
    word_set,
)
from dialframe.opt_outs.yes_no import (
    Answer,
    ResultCode,
    is_answer,
    plain_yes,
    read_answer,
    read_channels,
    read_consent,
    read_right_number,
    read_screened,
    read_screening,
    result_codes,
)

__all__ = [
    "Answer",
    "Remark",
    "ResultCode",
    "Scope",
    "Stance",
    "classes_of",
    "counts_doubts",
    "is_answer",
    "is_refusal",
    "is_suspect",
    "plain",
    "plain_parts",
    "plain_yes",
    "prohibits",
    "read_answer",
    "read_channels",
    "read_consent",
    "read_remark",
    "read_right_number",
    "read_screened",
    "read_screening",
    "read_stance",
    "result_codes",
    "scope_of",
    "text_parts",
    "word_set",
]
