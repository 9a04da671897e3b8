"""The synthetic account: months of dialling that never happened, made from a seed.

`generate` draws it; `tables.SyntheticAccount` says what comes out. The shape follows published
figures (`outcomes`, `population`, `hours`); the faults that an audit should find, and their answer
sheet, are in `faults`, `marks` and `truth`. It knows no HTTP and no SQL.
"""

from dialframe.sandbox.seed.account import generate
from dialframe.sandbox.seed.places import REGISTRY_BLOCKS
from dialframe.sandbox.seed.sizes import EMPTY, SIZES
from dialframe.sandbox.seed.tables import SyntheticAccount, Table

__all__ = ["EMPTY", "REGISTRY_BLOCKS", "SIZES", "SyntheticAccount", "Table", "generate"]
