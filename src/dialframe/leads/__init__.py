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
from dialframe.leads.columns import decide, map_columns
from dialframe.leads.decision import Candidate, MappingDecision, Question
from dialframe.leads.inputs import (
    LeadInput,
    custom_columns,
    lead_inputs,
    numbers_to_screen,
)
from dialframe.leads.intake import Told
from dialframe.leads.lead_file import Decisions, LeadFile
from dialframe.leads.mappings import fingerprint, forget_mapping, save_mapping, saved_mapping
from dialframe.leads.reading import read, read_all
from dialframe.leads.records import Dialect
from dialframe.leads.report import report
from dialframe.leads.rules import FieldRule, Policy, Rules
from dialframe.leads.rules_file import load_rules
from dialframe.leads.streaming import clean_files
from dialframe.leads.tally import CleanedFiles
from dialframe.leads.writing import Form, Written, stem, to_csv, write

__all__ = [
    "Candidate",
    "Cleaned",
    "CleanedFile",
    "CleanedFiles",
    "ColumnMap",
    "Decisions",
    "Dialect",
    "FieldRule",
    "Form",
    "LeadFile",
    "LeadInput",
    "MappingDecision",
    "Policy",
    "Question",
    "Rules",
    "Told",
    "Written",
    "clean",
    "clean_files",
    "custom_columns",
    "decide",
    "fingerprint",
    "forget_mapping",
    "lead_inputs",
    "load_rules",
    "map_columns",
    "numbers_to_screen",
    "read",
    "read_all",
    "reasons",
    "report",
    "save_mapping",
    "saved_mapping",
    "stem",
    "to_csv",
    "write",
]
