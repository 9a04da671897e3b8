-- Calls whose declared purpose is a subject on which nobody may be called.
--
-- The purpose and the sectors come from the practice file; a call of others is not reached at all.

with reached as (
  select a.question, k.rule, k.lifted, k.missing as reach_missing, k.doubtful or not k.everywhere as doubtful
  from asked a join calls c using (call) join reach k using (case_id) where k.check_name = 'sector_ban'
)
select question, rule, null as answer,
  case when lifted then 'pass' when reach_missing <> '' then 'not evaluable' when doubtful then 'uncertain' else 'violation' end as grade,
  case when grade = 'not evaluable' then reach_missing end as missing
from reached;
