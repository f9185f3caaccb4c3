-- Each segment of each platform is a range in either order: a page of whichever of them is merged of the beginnings of a few.
CREATE INDEX customers_churn ON customers (account_id, segment, source, (coalesce(churn_score, -1)), id);
CREATE INDEX customers_value ON customers (account_id, segment, source, ltv_estimate, id);
