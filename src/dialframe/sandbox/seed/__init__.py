"""The synthetic account: months of dialing that never happened, made from a seed.

`generate` draws it; `SyntheticAccount` says what comes out. The shape follows published
figures (`call_outcomes`, `people_and_calendar`); the faults that an audit should find, and their answer
sheet, are in `planted_faults`, `after_the_calls` and `answer_sheet`.
"""

from dialframe.sandbox.seed.generate import generate
from dialframe.sandbox.seed.people_and_calendar import REGISTRY_BLOCKS
from dialframe.sandbox.seed.sizes_and_columns import EMPTY, SIZES, SyntheticAccount, Table

__all__ = ["EMPTY", "REGISTRY_BLOCKS", "SIZES", "SyntheticAccount", "Table", "generate"]
