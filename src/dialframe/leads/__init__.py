"""Lead files in any shape to clean leads, with every record accounted for; knows no network.

    from dialframe import leads

    file = leads.read("autumn.csv")                   # text cells, source lines, decisions
    cleaned = leads.clean(file, region="US")          # five outcomes that add up
    leads.write(cleaned, "out")                       # CSV files and a report

`reasons` is the table of all reason codes with what to do about each.
"""

from dialframe.leads import reasons
from dialframe.leads.cleaned import Cleaned, CleanedFile
from dialframe.leads.cleaning import clean
from dialframe.leads.column_map import ColumnMap
from dialframe.leads.columns import map_columns
from dialframe.leads.inputs import LeadInput, custom_columns, lead_inputs
from dialframe.leads.lead_file import Decisions, LeadFile
from dialframe.leads.reading import read
from dialframe.leads.records import Dialect
from dialframe.leads.report import report
from dialframe.leads.rules import FieldRule, Policy
from dialframe.leads.writing import Written, write

__all__ = [
    "Cleaned",
    "CleanedFile",
    "ColumnMap",
    "Decisions",
    "Dialect",
    "FieldRule",
    "LeadFile",
    "LeadInput",
    "Policy",
    "Written",
    "clean",
    "custom_columns",
    "lead_inputs",
    "map_columns",
    "read",
    "reasons",
    "report",
    "write",
]
