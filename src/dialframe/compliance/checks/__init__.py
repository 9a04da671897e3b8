"""The checks of an audit: a query beside its words for each.

`calling_hours.sql` says which calls keep the hours, `calling_hours.py` puts the answers into
sentences; so does every other pair. What a check asks, and what to do about its findings, stands in
`words.toml`. A query reads the tables of `dialframe.compliance.tables` and makes one table of its
own name, with `severity` (0 pass, 2 not evaluable, 3 uncertain, 4 violation), the numbers of the
`rules` that decide, what is `missing`, and its evidence.
"""
