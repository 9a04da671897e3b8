"""The checks of an audit: a query beside its words for each.

`calling_hours.sql` says which calls keep the hours. What a check asks, what each answer of its query
means, and what to do about its findings stands in `words.toml`; `calling_hours.py` and a few others say
what no template can. A query reads the tables of `dialframe.compliance.tables` and makes one table of its
own name, with `severity` (0 pass, 2 not evaluable, 3 uncertain, 4 violation), the numbers of the `rules`
that decide, what is `missing`, its evidence, and its `answer` where the grade alone does not say it.
"""
