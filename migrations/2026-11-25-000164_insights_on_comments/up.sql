ALTER TABLE insights
    DROP CONSTRAINT insights_category_check,
    ADD CONSTRAINT insights_category_check CHECK (category IN ('ads', 'churn_risk', 'inventory', 'profit', 'revenue', 'customers',
        'pricing', 'integrations', 'social'));
