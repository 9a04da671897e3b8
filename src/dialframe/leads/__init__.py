"""Lead files in any shape to clean leads, with every record accounted for.

    from dialframe import leads

    file = leads.read("autumn.csv")                   # text cells, source lines, decisions
    cleaned = leads.clean(file, region="US")          # five outcomes that add up
    leads.write(cleaned, "out")                       # CSV files and a report

`reasons` is the table of all reason codes with what to do about each.
"""

from dialframe.leads import reasons
from dialframe.leads.cleaning import Choices, Pipeline, clean, clean_files
from dialframe.leads.columns.column_decisions import decide, map_columns
from dialframe.leads.columns.column_map import (
    Candidate,
    ColumnMap,
    MappingDecision,
    Question,
    fingerprint,
    forget_mapping,
    save_mapping,
    saved_mapping,
)
from dialframe.leads.columns.list_region import RegionCandidate, RegionDecision, decide_region
from dialframe.leads.formats import Form
from dialframe.leads.import_bodies import LeadInput
from dialframe.leads.lead_file import Decisions, Dialect, LeadFile
from dialframe.leads.outcomes import Cleaned, CleanedFile, CleanedFiles
from dialframe.leads.outputs import (
    CleanLayout,
    Target,
    Written,
    stem,
    stem_in,
    stem_of,
    to_csv,
    write,
)
from dialframe.leads.reading import ReadOptions, read, read_all
from dialframe.leads.report import report
from dialframe.leads.rules import FieldRule, Policy, Rules, load_rules

__all__ = [
    "Candidate",
    "Choices",
    "CleanLayout",
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
    "Pipeline",
    "Policy",
    "Question",
    "ReadOptions",
    "RegionCandidate",
    "RegionDecision",
    "Rules",
    "Target",
    "Written",
    "clean",
    "clean_files",
    "decide",
    "decide_region",
    "fingerprint",
    "forget_mapping",
    "load_rules",
    "map_columns",
    "read",
    "read_all",
    "reasons",
    "report",
    "save_mapping",
    "saved_mapping",
    "stem",
    "stem_in",
    "stem_of",
    "to_csv",
    "write",
]


def __dir__() -> list[str]:
    """The public names alone."""
    return sorted(__all__)
