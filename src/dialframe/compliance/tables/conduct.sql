-- What the firm says of the recordings and voices of each call: of its campaign, else of the firm as a whole.

create or replace view call_conduct as
select c.call, p.* exclude (campaign_id) from calls c left join conduct o on o.campaign_id = c.campaign_id
join conduct p on p.campaign_id = coalesce(o.campaign_id, '');
