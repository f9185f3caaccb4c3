//! The tables that the query builder is used for. Kept in step with `migrations/` by a test that compares both. A crate of its own,
//! as the compiler has thousands of implementations to check here, and the store's queries change more often.
//!
//! A `sql_name` is a name from before that stays in the database: processes of the version before would look for it in vain
//! while the next version is rolled out.

diesel::table! {
    schema_requirements (migration) {
        migration -> Text,
        min_version -> Text,
    }
}

diesel::table! {
    status_probes (minute, component, source) {
        minute -> Timestamptz,
        component -> Text,
        source -> Text,
        outcome -> Text,
        latency_ms -> Nullable<BigInt>,
    }
}

diesel::table! {
    incidents (id) {
        id -> BigInt,
        title -> Text,
        severity -> Text,
        status -> Text,
        components -> Array<Text>,
        automatic -> Bool,
        started_at -> Timestamptz,
        identified_at -> Nullable<Timestamptz>,
        monitoring_at -> Nullable<Timestamptz>,
        resolved_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    incident_updates (id) {
        id -> BigInt,
        incident_id -> BigInt,
        status -> Text,
        body -> Text,
        created_at -> Timestamptz,
    }
}

diesel::table! {
    incident_watches (component) {
        component -> Text,
        until -> Timestamptz,
        down -> BigInt,
        bad -> BigInt,
        good -> BigInt,
    }
}

diesel::table! {
    people (id) {
        id -> BigInt,
        email -> Text,
        name -> Text,
        language -> Nullable<Text>,
        theme -> Text,
        created_at -> Timestamptz,
        disabled_at -> Nullable<Timestamptz>,
        password -> Nullable<Text>,
    }
}

diesel::table! {
    devices (hash) {
        hash -> Bytea,
        person_id -> BigInt,
        created_at -> Timestamptz,
    }
}

diesel::table! {
    throttles (key) {
        key -> Bytea,
        tries -> Integer,
        last_at -> Timestamptz,
        expires_at -> Timestamptz,
    }
}

diesel::table! {
    mails (id) {
        id -> BigInt,
        recipient -> Text,
        language -> Text,
        facts -> Jsonb,
        created_at -> Timestamptz,
        due_at -> Timestamptz,
        attempts -> Integer,
    }
}

diesel::table! {
    second_factors (person_id) {
        person_id -> BigInt,
        sealed_secret -> Bytea,
        last_step -> BigInt,
        created_at -> Timestamptz,
        turned_on_at -> Nullable<Timestamptz>,
        codes_salt -> Nullable<Bytea>,
    }
}

diesel::table! {
    recovery_codes (person_id, hash) {
        person_id -> BigInt,
        hash -> Bytea,
    }
}

diesel::table! {
    challenges (hash) {
        hash -> Bytea,
        person_id -> BigInt,
        remember -> Bool,
        tries -> Integer,
        expires_at -> Timestamptz,
    }
}

diesel::table! {
    audit_entries (account_id, id) {
        account_id -> BigInt,
        id -> BigInt,
        at -> Timestamptz,
        actor_kind -> Text,
        person_id -> Nullable<BigInt>,
        actor_name -> Nullable<Text>,
        action -> Text,
        target -> Nullable<Text>,
        address -> Nullable<Text>,
        before -> Nullable<Jsonb>,
        after -> Nullable<Jsonb>,
        mode -> Nullable<Text>,
    }
}

diesel::table! {
    memberships (user_id, person_id) {
        user_id -> Text,
        person_id -> BigInt,
        role -> Text,
        created_at -> Timestamptz,
    }
}

diesel::table! {
    sessions (hash) {
        hash -> Bytea,
        id -> BigInt,
        person_id -> BigInt,
        user_id -> Text,
        mode -> Text,
        user_agent -> Text,
        address -> Text,
        created_at -> Timestamptz,
        seen_at -> Timestamptz,
        expires_at -> Timestamptz,
        confirmed_at -> Timestamptz,
    }
}

diesel::table! {
    links (hash) {
        hash -> Bytea,
        purpose -> Text,
        person_id -> Nullable<BigInt>,
        user_id -> Nullable<Text>,
        details -> Jsonb,
        created_at -> Timestamptz,
        expires_at -> Timestamptz,
    }
}

diesel::table! {
    users (id) {
        id -> Text,
        created_at -> Timestamptz,
        requires_second_factor -> Bool,
    }
}

diesel::table! {
    accounts (id) {
        id -> BigInt,
        user_id -> Text,
        mode -> Text,
        name -> Text,
        plan -> Text,
        currency -> Text,
        timezone -> Text,
        fee_rate -> Numeric,
        fee_fixed -> Numeric,
        shipping_per_order -> Numeric,
        cogs_ratio -> Numeric,
        created_at -> Timestamptz,
        holiday_country -> Nullable<Text>,
        copy_of -> Nullable<BigInt>,
        as_of -> Nullable<Date>,
        published -> Bool,
        language -> Text,
        country -> Nullable<Text>,
    }
}

diesel::table! {
    api_keys (hash) {
        hash -> Bytea,
        id -> BigInt,
        account_id -> BigInt,
        name -> Text,
        prefix -> Text,
        scopes -> Array<Text>,
        created_at -> Timestamptz,
        expires_at -> Nullable<Timestamptz>,
        revoked_at -> Nullable<Timestamptz>,
        last_used_at -> Nullable<Timestamptz>,
        made_by -> Nullable<Text>,
    }
}

diesel::table! {
    idempotency_keys (account_id, path, key) {
        account_id -> BigInt,
        path -> Text,
        key -> Text,
        request_hash -> Bytea,
        result -> Jsonb,
        created_at -> Timestamptz,
    }
}

diesel::table! {
    credit_balances (account_id) {
        account_id -> BigInt,
        balance -> BigInt,
        total_purchased -> BigInt,
        total_spent -> BigInt,
        auto_topup_enabled -> Bool,
        auto_topup_threshold -> BigInt,
        auto_topup_amount -> BigInt,
        auto_topup_last_charged_at -> Nullable<Timestamptz>,
        updated_at -> Timestamptz,
        auto_topup_monthly_cap -> Nullable<BigInt>,
        auto_topup_failures -> BigInt,
        auto_topup_last_failure -> Nullable<Text>,
        auto_topup_disabled_reason -> Nullable<Text>,
    }
}

diesel::table! {
    payments (account_id, gateway, payment_id) {
        account_id -> BigInt,
        gateway -> Text,
        payment_id -> Text,
        status -> Text,
        item -> Text,
        credits -> BigInt,
        amount -> Numeric,
        currency -> Text,
        plan -> Nullable<Text>,
        charge_id -> Nullable<BigInt>,
        transaction_id -> Nullable<BigInt>,
        reversal_id -> Nullable<BigInt>,
        shortfall -> BigInt,
        created_at -> Timestamptz,
        updated_at -> Timestamptz,
    }
}

diesel::table! {
    payment_owners (gateway, payment_id) {
        gateway -> Text,
        payment_id -> Text,
        owner_id -> BigInt,
    }
}

diesel::table! {
    price_offers (item, currency, amount, credits) {
        item -> Text,
        currency -> Text,
        amount -> Numeric,
        credits -> BigInt,
        plan -> Nullable<Text>,
        plan_interval -> Nullable<Text>,
        withdrawn_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    payment_customers (account_id) {
        account_id -> BigInt,
        gateway -> Text,
        customer_id -> Text,
        updated_at -> Timestamptz,
    }
}

diesel::table! {
    auto_topups (account_id, id) {
        account_id -> BigInt,
        id -> BigInt,
        state -> Text,
        credits -> BigInt,
        customer_id -> Nullable<Text>,
        item -> Nullable<Text>,
        amount -> Nullable<Numeric>,
        currency -> Nullable<Text>,
        due_at -> Timestamptz,
        leased_until -> Nullable<Timestamptz>,
        claim -> BigInt,
        attempts -> BigInt,
        payment_id -> Nullable<Text>,
        reason -> Nullable<Text>,
        created_at -> Timestamptz,
        finished_at -> Nullable<Timestamptz>,
        sent_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    credit_transactions (account_id, id) {
        account_id -> BigInt,
        id -> BigInt,
        kind -> Text,
        feature -> Nullable<Text>,
        amount -> BigInt,
        balance_after -> BigInt,
        operation_key -> Nullable<Text>,
        meta -> Jsonb,
        created_at -> Timestamptz,
        operation_hash -> Nullable<Bytea>,
        refunds_id -> Nullable<BigInt>,
    }
}

diesel::table! {
    ai_access (account_id) {
        account_id -> BigInt,
        paused_at -> Nullable<Timestamptz>,
        reason -> Nullable<Text>,
        paused_by -> Nullable<Text>,
        by_kind -> Nullable<Text>,
        updated_at -> Timestamptz,
    }
}

diesel::table! {
    integrations (account_id, id) {
        account_id -> BigInt,
        id -> BigInt,
        provider -> Text,
        shop -> Text,
        scopes -> Array<Text>,
        connected_at -> Timestamptz,
        revoked_at -> Nullable<Timestamptz>,
        last_sync_at -> Nullable<Timestamptz>,
        shop_id -> Nullable<Text>,
        missing_scopes -> Array<Text>,
        history_from -> Nullable<Timestamptz>,
        buyer_data -> Text,
        suspended_at -> Nullable<Timestamptz>,
        revoke_reason -> Nullable<Text>,
        owner_of -> Array<Text>,
        broken_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    shop_owners (provider, shop_id, owner_id) {
        provider -> Text,
        shop_id -> Text,
        owner_id -> BigInt,
        integration_id -> BigInt,
        is_connected -> Bool,
    }
}

diesel::table! {
    oauth_states (account_id, state_hash) {
        account_id -> BigInt,
        state_hash -> Bytea,
        id -> BigInt,
        user_id -> Text,
        provider -> Text,
        shop -> Nullable<Text>,
        redirect_uri -> Text,
        sealed_verifier -> Bytea,
        expires_at -> Timestamptz,
        session_id -> Nullable<BigInt>,
        channel -> Nullable<Text>,
    }
}

diesel::table! {
    integration_tokens (account_id, integration_id) {
        account_id -> BigInt,
        integration_id -> BigInt,
        generation -> BigInt,
        sealed_access -> Nullable<Bytea>,
        access_expires_at -> Nullable<Timestamptz>,
        sealed_refresh -> Nullable<Bytea>,
        refresh_expires_at -> Nullable<Timestamptz>,
        lease_number -> BigInt,
        lease_until -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    sync_streams (account_id, integration_id, stream) {
        account_id -> BigInt,
        integration_id -> BigInt,
        stream -> Text,
        cursor_at -> Nullable<Timestamptz>,
        failures -> BigInt,
        failing_since -> Nullable<Timestamptz>,
        failed_at -> Nullable<Timestamptz>,
        error_code -> Nullable<Text>,
        error_message -> Nullable<Text>,
        begun_at -> Nullable<Timestamptz>,
        reached_at -> Nullable<Timestamptz>,
        reached_number -> Nullable<BigInt>,
    }
}

diesel::table! {
    sync_runs (account_id, id) {
        account_id -> BigInt,
        id -> BigInt,
        integration_id -> BigInt,
        stream -> Text,
        window_from -> Nullable<Timestamptz>,
        window_until -> Nullable<Timestamptz>,
        state -> Text,
        read -> BigInt,
        stored -> BigInt,
        refused -> BigInt,
        voided -> BigInt,
        calls -> BigInt,
        waited_ms -> BigInt,
        refusals -> Jsonb,
        error_code -> Nullable<Text>,
        error_message -> Nullable<Text>,
        started_at -> Timestamptz,
        finished_at -> Timestamptz,
    }
}

diesel::table! {
    uploads (account_id, id) {
        account_id -> BigInt,
        id -> BigInt,
        kind -> Text,
        name -> Text,
        bytes -> BigInt,
        state -> Text,
        reading -> Jsonb,
        read_bytes -> BigInt,
        outcome -> Nullable<Jsonb>,
        error -> Nullable<Text>,
        lease_number -> BigInt,
        lease_until -> Nullable<Timestamptz>,
        created_at -> Timestamptz,
        finished_at -> Nullable<Timestamptz>,
        lost_leases -> BigInt,
        queued_at -> Nullable<Timestamptz>,
        is_unreadable -> Bool,
    }
}

diesel::table! {
    upload_pieces (account_id, upload_id, part, number) {
        account_id -> BigInt,
        upload_id -> BigInt,
        part -> Text,
        number -> BigInt,
        bytes -> Bytea,
    }
}

diesel::table! {
    alert_firings (account_id, id) {
        account_id -> BigInt,
        id -> BigInt,
        rule_id -> BigInt,
        fired_at -> Timestamptz,
        observed -> Numeric,
        threshold -> Numeric,
        event_id -> Nullable<BigInt>,
    }
}

diesel::table! {
    visits (account_id, person_id) {
        account_id -> BigInt,
        person_id -> BigInt,
        seen_at -> Timestamptz,
        before_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    notes (account_id, id) {
        account_id -> BigInt,
        id -> BigInt,
        day -> Date,
        text -> Text,
        person_id -> BigInt,
        person_name -> Text,
        written_at -> Timestamptz,
    }
}

diesel::table! {
    erasures (user_id) {
        user_id -> Text,
        requested_at -> Timestamptz,
        due_at -> Timestamptz,
    }
}

diesel::table! {
    exports (account_id, id) {
        account_id -> BigInt,
        id -> BigInt,
        state -> Text,
        row_count -> BigInt,
        byte_count -> BigInt,
        lease_number -> BigInt,
        lease_until -> Nullable<Timestamptz>,
        created_at -> Timestamptz,
        finished_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    export_pieces (account_id, export_id, number) {
        account_id -> BigInt,
        export_id -> BigInt,
        number -> BigInt,
        bytes -> Bytea,
    }
}

diesel::table! {
    job_requests (account_id) {
        account_id -> BigInt,
        requested_at -> Timestamptz,
        due_at -> Timestamptz,
        is_again -> Bool,
        lease_number -> BigInt,
        lease_until -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    provider_inbox (account_id, id) {
        account_id -> BigInt,
        id -> BigInt,
        integration_id -> BigInt,
        dedup_key -> Text,
        topic_name -> Text,
        topic -> Jsonb,
        received_at -> Timestamptz,
        due_at -> Timestamptz,
        lease_until -> Nullable<Timestamptz>,
        attempts -> BigInt,
        processed_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    privacy_requests (account_id, id) {
        account_id -> BigInt,
        id -> BigInt,
        integration_id -> BigInt,
        inbox_id -> BigInt,
        kind -> Text,
        customer -> Nullable<Text>,
        orders -> Array<Text>,
        received_at -> Timestamptz,
        due_at -> Timestamptz,
        done_at -> Nullable<Timestamptz>,
        redacted_customers -> BigInt,
        redacted_orders -> BigInt,
    }
}

diesel::table! {
    customers (account_id, id) {
        account_id -> BigInt,
        id -> BigInt,
        source -> Text,
        external_id -> Text,
        email -> Nullable<Text>,
        name -> Nullable<Text>,
        city -> Nullable<Text>,
        country -> Nullable<Text>,
        created_at -> Timestamptz,
        orders_count -> BigInt,
        revenue_total -> Numeric,
        ltv_estimate -> Numeric,
        aov -> Numeric,
        segment -> Text,
        churn_score -> Nullable<Numeric>,
        first_purchase_at -> Nullable<Timestamptz>,
        last_purchase_at -> Nullable<Timestamptz>,
        email_at -> Nullable<Timestamptz>,
        name_at -> Nullable<Timestamptz>,
        city_at -> Nullable<Timestamptz>,
        country_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    products (account_id, id) {
        account_id -> BigInt,
        id -> BigInt,
        sku -> Text,
        name -> Text,
        category -> Nullable<Text>,
        price -> Nullable<Numeric>,
        unit_cost -> Nullable<Numeric>,
        current_stock -> Nullable<BigInt>,
        on_order -> BigInt,
        lead_time_days -> Nullable<Integer>,
        pack_size -> Nullable<Integer>,
        min_order_qty -> Nullable<Integer>,
        created_at -> Timestamptz,
        described_at -> Nullable<Timestamptz>,
        stock_from -> Nullable<BigInt>,
    }
}

diesel::table! {
    product_costs (account_id, product_id, valid_from) {
        account_id -> BigInt,
        product_id -> BigInt,
        valid_from -> Date,
        unit_cost -> Numeric,
    }
}

diesel::table! {
    stock_levels (account_id, product_id, day) {
        account_id -> BigInt,
        product_id -> BigInt,
        day -> Date,
        stock -> BigInt,
    }
}

diesel::table! {
    orders (account_id, id) {
        account_id -> BigInt,
        id -> BigInt,
        source -> Text,
        external_id -> Text,
        customer_id -> Nullable<BigInt>,
        placed_at -> Timestamptz,
        country -> Nullable<Text>,
        gross -> Numeric,
        units -> BigInt,
        fees -> Nullable<Numeric>,
        shipping -> Nullable<Numeric>,
        content_hash -> Bytea,
        integration_id -> Nullable<BigInt>,
    }
}

diesel::table! {
    refunds (account_id, id) {
        account_id -> BigInt,
        id -> BigInt,
        source -> Text,
        external_id -> Text,
        customer_id -> Nullable<BigInt>,
        refunded_at -> Timestamptz,
        amount -> Numeric,
        units -> BigInt,
        content_hash -> Bytea,
    }
}

diesel::table! {
    ad_spend (account_id, day, platform, campaign) {
        account_id -> BigInt,
        day -> Date,
        platform -> Text,
        campaign -> Text,
        spend -> Numeric,
        impressions -> Nullable<BigInt>,
        clicks -> Nullable<BigInt>,
    }
}

diesel::table! {
    ad_accounts (account_id, id) {
        account_id -> BigInt,
        id -> BigInt,
    }
}

diesel::table! {
    ad_entities (account_id, id) {
        account_id -> BigInt,
        id -> BigInt,
    }
}

diesel::table! {
    ad_days (account_id, day, ad_id, currency) {
        account_id -> BigInt,
        day -> Date,
        ad_id -> BigInt,
        currency -> Text,
    }
}

diesel::table! {
    campaign_creatives (account_id, id) {
        account_id -> BigInt,
        id -> BigInt,
        last_seen -> Date,
    }
}

diesel::table! {
    creatives (account_id, id) {
        account_id -> BigInt,
        id -> BigInt,
        platform -> Text,
        key -> Text,
        format -> Text,
        headline -> Nullable<Text>,
        body -> Nullable<Text>,
    }
}

diesel::table! {
    expenses (account_id, day, category, description, occurrence) {
        account_id -> BigInt,
        day -> Date,
        category -> Text,
        description -> Text,
        occurrence -> Integer,
        amount -> Numeric,
    }
}

diesel::table! {
    track_events (account_id, received_at, id) {
        account_id -> BigInt,
        id -> BigInt,
        name -> Text,
        props -> Jsonb,
        visitor_id -> Nullable<Text>,
        session_id -> Nullable<Text>,
        url -> Nullable<Text>,
        country -> Nullable<Text>,
        region -> Nullable<Text>,
        city -> Nullable<Text>,
        occurred_at -> Timestamptz,
        received_at -> Timestamptz,
    }
}

diesel::table! {
    roll_ups (account_id) {
        account_id -> BigInt,
        events_until -> Timestamptz,
        /// What the sums were made by: the definitions, the time zone and the rates.
        #[sql_name = "made_by"]
        config_fingerprint -> Text,
        version -> BigInt,
    }
}

diesel::table! {
    customer_days (account_id, customer_id, day) {
        account_id -> BigInt,
        customer_id -> BigInt,
        day -> Date,
        orders -> BigInt,
        gross -> Numeric,
        refunds -> Numeric,
        first_at -> Nullable<Timestamptz>,
        last_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    customer_totals (account_id, customer_id) {
        account_id -> BigInt,
        customer_id -> BigInt,
        days -> BigInt,
        orders -> BigInt,
        gross -> Numeric,
        refunds -> Numeric,
        first_at -> Timestamptz,
        last_at -> Timestamptz,
    }
}

diesel::table! {
    daily_metrics (account_id, day) {
        account_id -> BigInt,
        day -> Date,
        gross_revenue -> Numeric,
        refunds -> Numeric,
        orders -> BigInt,
        units -> BigInt,
        customers -> BigInt,
        new_customers -> BigInt,
        refund_count -> BigInt,
        cogs -> Numeric,
        cogs_covered_revenue -> Numeric,
        fees -> Numeric,
        shipping -> Numeric,
        ad_spend -> Numeric,
        ad_clicks -> BigInt,
        extra_expenses -> Numeric,
        visitors -> BigInt,
        goods_revenue -> Numeric,
        fees_estimated_orders -> BigInt,
        shipping_estimated_orders -> BigInt,
        returned_units -> BigInt,
        returned_cogs -> Numeric,
        returned_fees -> Numeric,
    }
}

diesel::table! {
    daily_breakdowns (account_id, day, dimension, value) {
        account_id -> BigInt,
        day -> Date,
        dimension -> Text,
        value -> Text,
        gross_revenue -> Numeric,
        orders -> BigInt,
        units -> BigInt,
        ad_spend -> Numeric,
        visitors -> BigInt,
    }
}

diesel::table! {
    product_days (account_id, product_id, day) {
        account_id -> BigInt,
        product_id -> BigInt,
        day -> Date,
        units -> BigInt,
        largest_line -> BigInt,
        cancelled_units -> BigInt,
        revenue -> Numeric,
        refunded -> Numeric,
    }
}

diesel::table! {
    profit_snapshots (account_id, snapshot_date) {
        account_id -> BigInt,
        snapshot_date -> Date,
        gross_revenue -> Numeric,
        refunds -> Numeric,
        ad_spend -> Numeric,
        cogs_estimate -> Numeric,
        fees_estimate -> Numeric,
        shipping_estimate -> Numeric,
        extra_expenses -> Numeric,
        purchase_count -> BigInt,
        computed_at -> Timestamptz,
        goods_revenue -> Numeric,
        cogs_covered_revenue -> Numeric,
        fees_estimated_orders -> BigInt,
        shipping_estimated_orders -> BigInt,
        returned_units -> BigInt,
        returned_cogs -> Numeric,
        returned_fees -> Numeric,
        lacks_rates -> Bool,
    }
}

diesel::table! {
    inventory_items (account_id, id) {
        account_id -> BigInt,
        id -> BigInt,
        product_id -> BigInt,
        sku -> Text,
        product_name -> Text,
        current_stock -> BigInt,
        units_sold_30d -> BigInt,
        units_sold_7d -> BigInt,
        avg_daily_units_30d -> Numeric,
        avg_daily_units_7d -> Numeric,
        days_of_stock -> Nullable<Numeric>,
        trend -> Text,
        status -> Text,
        urgency -> SmallInt,
        days_rank -> Numeric,
        estimated_stockout_at -> Nullable<Date>,
        computed_at -> Timestamptz,
        velocity -> Nullable<Numeric>,
        velocity_class -> Nullable<Text>,
        days_of_stock_low -> Nullable<Numeric>,
        days_of_stock_high -> Nullable<Numeric>,
        unit_contribution -> Nullable<Double>,
        missed_units -> Nullable<Double>,
    }
}

diesel::table! {
    reorder_suggestions (account_id, id) {
        account_id -> BigInt,
        id -> BigInt,
        inventory_item_id -> BigInt,
        sku -> Text,
        qty_suggested -> BigInt,
        reason -> Text,
        confidence -> Numeric,
        forecast_days -> BigInt,
        status -> Text,
        computed_at -> Timestamptz,
        basis -> Nullable<Jsonb>,
        product_name -> Nullable<Text>,
    }
}

diesel::table! {
    anomalies (account_id, id) {
        account_id -> BigInt,
        id -> BigInt,
        kind -> Text,
        metric -> Text,
        day -> Date,
        observed_value -> Double,
        expected_value -> Double,
        expected_low -> Nullable<Double>,
        expected_high -> Nullable<Double>,
        z_score -> Double,
        direction -> Text,
        severity -> Text,
        detected_at -> Timestamptz,
        inferred_cause -> Nullable<Text>,
        confidence -> Nullable<Double>,
        correlated_metrics -> Jsonb,
        is_shift -> Bool,
        drivers -> Jsonb,
        cause -> Nullable<Text>,
        story_id -> Nullable<BigInt>,
        recorded_at -> Timestamptz,
        first_day -> Nullable<Date>,
        last_day -> Nullable<Date>,
    }
}

diesel::table! {
    stories (account_id, id) {
        account_id -> BigInt,
        id -> BigInt,
        key -> Text,
        first_day -> Date,
        last_day -> Date,
        facts -> Jsonb,
    }
}

diesel::table! {
    gone_places (account_id, list, id) {
        account_id -> BigInt,
        list -> Text,
        id -> BigInt,
        detected_at -> Nullable<Timestamptz>,
        rank -> Nullable<SmallInt>,
        amount -> Nullable<Numeric>,
        name -> Nullable<Text>,
        gone_at -> Timestamptz,
    }
}

diesel::table! {
    metric_days (account_id, metric, day) {
        account_id -> BigInt,
        metric -> Text,
        day -> Date,
        observed -> Nullable<Double>,
        expected -> Nullable<Double>,
        low -> Nullable<Double>,
        high -> Nullable<Double>,
    }
}

diesel::table! {
    insights (account_id, id) {
        account_id -> BigInt,
        id -> BigInt,
        fingerprint -> Text,
        severity -> Text,
        category -> Text,
        title -> Text,
        body -> Text,
        suggested_action -> Text,
        impact_estimate -> Text,
        source -> Text,
        status -> Text,
        computed_at -> Timestamptz,
        resolved_at -> Nullable<Timestamptz>,
        basis -> Nullable<Bytea>,
        decided_at -> Nullable<Timestamptz>,
        facts -> Nullable<Jsonb>,
        language -> Text,
        is_told -> Bool,
        at_stake -> Nullable<Double>,
        story_id -> Nullable<BigInt>,
        recorded_at -> Timestamptz,
        weight -> Nullable<Double>,
        told_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    risks (account_id, id) {
        account_id -> BigInt,
        id -> BigInt,
        kind -> Text,
        subject -> Text,
        label -> Text,
        severity -> Text,
        severity_rank -> SmallInt,
        likelihood -> Nullable<Numeric>,
        exposure_low -> Nullable<Numeric>,
        exposure_expected -> Nullable<Numeric>,
        exposure_high -> Nullable<Numeric>,
        expected_rank -> Numeric,
        lacks_costs -> Bool,
        evidence -> Jsonb,
        assumptions -> Jsonb,
        action -> Nullable<Text>,
        sku -> Nullable<Text>,
        insight_id -> Nullable<BigInt>,
        customer_id -> Nullable<BigInt>,
        integration_id -> Nullable<BigInt>,
        webhook_id -> Nullable<BigInt>,
        found_on -> Date,
        detected_at -> Timestamptz,
        last_seen_at -> Timestamptz,
    }
}

diesel::table! {
    webhook_subscriptions (account_id, id) {
        account_id -> BigInt,
        id -> BigInt,
        url -> Text,
        events -> Array<Text>,
        active -> Bool,
        disabled_reason -> Nullable<Text>,
        sealed_secret -> Bytea,
        last_fired_at -> Nullable<Timestamptz>,
        last_status -> Nullable<Integer>,
        fail_count -> BigInt,
        total_fired -> BigInt,
        total_failed -> BigInt,
        created_at -> Timestamptz,
        revoked_at -> Nullable<Timestamptz>,
        previous_sealed_secret -> Nullable<Bytea>,
        previous_expires_at -> Nullable<Timestamptz>,
        failing_since -> Nullable<Timestamptz>,
        failing_deliveries -> BigInt,
        held_moved_at -> Nullable<Timestamptz>,
        answer_day -> Nullable<Date>,
        answer_bytes -> BigInt,
        trouble_count -> BigInt,
    }
}

diesel::table! {
    events (account_id, id) {
        account_id -> BigInt,
        id -> BigInt,
        kind -> Text,
        body -> Bytea,
        created_at -> Timestamptz,
    }
}

diesel::table! {
    deliveries (account_id, subscription_id, event_id) {
        account_id -> BigInt,
        subscription_id -> BigInt,
        event_id -> BigInt,
        id -> Uuid,
        state -> Text,
        due_at -> Timestamptz,
        leased_until -> Nullable<Timestamptz>,
        claim -> BigInt,
        attempts -> Integer,
        earlier_attempts -> Integer,
        last_status -> Nullable<Integer>,
        last_failure -> Nullable<Text>,
        created_at -> Timestamptz,
        finished_at -> Nullable<Timestamptz>,
        is_test -> Bool,
    }
}

diesel::table! {
    delivery_attempts (account_id, delivery_id, number, started_at) {
        account_id -> BigInt,
        delivery_id -> Uuid,
        number -> Integer,
        started_at -> Timestamptz,
        status -> Nullable<Integer>,
        failure -> Nullable<Text>,
        message -> Nullable<Text>,
        dns_us -> Nullable<BigInt>,
        connect_us -> Nullable<BigInt>,
        tls_us -> Nullable<BigInt>,
        first_byte_us -> Nullable<BigInt>,
        total_us -> BigInt,
        answer -> Bytea,
        location -> Nullable<Text>,
        answer_bytes -> Nullable<BigInt>,
    }
}

diesel::table! {
    webhook_replays (account_id, id) {
        account_id -> BigInt,
        id -> BigInt,
        subscription_id -> BigInt,
        since -> Timestamptz,
        until -> Timestamptz,
        states -> Array<Text>,
        state -> Text,
        total -> BigInt,
        queued -> BigInt,
        cursor -> BigInt,
        created_at -> Timestamptz,
        finished_at -> Nullable<Timestamptz>,
        advanced_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    job_runs (account_id, job, as_of) {
        account_id -> BigInt,
        job -> Text,
        as_of -> Date,
        state -> Text,
        claim -> BigInt,
        lease_until -> Timestamptz,
        started_at -> Timestamptz,
        finished_at -> Nullable<Timestamptz>,
        error -> Nullable<Text>,
    }
}

diesel::table! {
    job_results (account_id, job) {
        account_id -> BigInt,
        job -> Text,
        #[sql_name = "made_from"]
        input_fingerprint -> Text,
    }
}

diesel::table! {
    alert_rules (account_id, id) {
        account_id -> BigInt,
        id -> BigInt,
        name -> Text,
        metric -> Text,
        comparator -> Text,
        threshold -> Numeric,
        window_hours -> BigInt,
        severity -> Text,
        cooldown_hours -> BigInt,
        active -> Bool,
        armed -> Bool,
        last_value -> Nullable<Numeric>,
        last_evaluated_at -> Nullable<Timestamptz>,
        last_fired_at -> Nullable<Timestamptz>,
        due_at -> Timestamptz,
        created_at -> Timestamptz,
        updated_at -> Timestamptz,
    }
}

diesel::table! {
    ai_runs (account_id, id) {
        account_id -> BigInt,
        id -> BigInt,
        feature -> Text,
        trigger -> Text,
        state -> Text,
        outcome -> Nullable<Text>,
        reason -> Nullable<Text>,
        credits -> BigInt,
        refunded -> Bool,
        claim -> BigInt,
        lease_until -> Nullable<Timestamptz>,
        created_at -> Timestamptz,
        started_at -> Nullable<Timestamptz>,
        finished_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    ai_calls (account_id, id) {
        account_id -> BigInt,
        id -> BigInt,
        run_id -> BigInt,
        model -> Text,
        finished_at -> Nullable<Timestamptz>,
        error -> Nullable<Text>,
        prompt_tokens -> BigInt,
        completion_tokens -> BigInt,
        cost_usd -> Numeric,
        estimated -> Bool,
        started_at -> Timestamptz,
    }
}

diesel::table! {
    ai_limits (account_id) {
        account_id -> BigInt,
        warning_usd -> Numeric,
        critical_usd -> Numeric,
        auto_pause -> Bool,
        updated_at -> Timestamptz,
    }
}

diesel::table! {
    ai_crossings (account_id, month, severity) {
        account_id -> BigInt,
        month -> Date,
        severity -> Text,
        cost_usd -> Numeric,
        threshold_usd -> Numeric,
        crossed_at -> Timestamptz,
        pauses -> Bool,
    }
}

diesel::table! {
    ai_access_log (account_id, id) {
        account_id -> BigInt,
        id -> BigInt,
        action -> Text,
        reason -> Nullable<Text>,
        done_by -> Text,
        by_kind -> Text,
        cost_usd -> Nullable<Numeric>,
        threshold_usd -> Nullable<Numeric>,
        detail -> Nullable<Jsonb>,
        done_at -> Timestamptz,
    }
}

diesel::table! {
    data_keys (id) {
        id -> Text,
        check_value -> Nullable<Bytea>,
        recorded_at -> Timestamptz,
        lost_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    social_accounts (account_id, id) {
        account_id -> BigInt,
        id -> BigInt,
        channel -> Text,
        external_id -> Text,
        app_scoped_id -> Nullable<Text>,
        handle -> Nullable<Text>,
        sealed_token -> Nullable<Bytea>,
        connected_at -> Timestamptz,
        ended_at -> Nullable<Timestamptz>,
        last_event_at -> Nullable<Timestamptz>,
        last_poll_at -> Nullable<Timestamptz>,
        poll_due_at -> Nullable<Timestamptz>,
        blocked_until -> Nullable<Timestamptz>,
        integration_id -> Nullable<BigInt>,
        scopes -> Nullable<Array<Text>>,
        missing_scopes -> Nullable<Array<Text>>,
        page_id -> Nullable<Text>,
        subscribed_at -> Nullable<Timestamptz>,
        subscribe_due_at -> Nullable<Timestamptz>,
        end_reason -> Nullable<Text>,
    }
}

diesel::table! {
    social_owners (channel, external_id) {
        channel -> Text,
        external_id -> Text,
        owner_id -> BigInt,
    }
}

diesel::table! {
    social_hooks (id) {
        id -> BigInt,
        body -> Bytea,
        received_at -> Timestamptz,
        lease_until -> Nullable<Timestamptz>,
        done_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    social_posts (account_id, channel, external_id) {
        account_id -> BigInt,
        channel -> Text,
        external_id -> Text,
        permalink -> Nullable<Text>,
        ad_id -> Nullable<Text>,
    }
}

diesel::table! {
    conversations (account_id, id) {
        account_id -> BigInt,
        id -> BigInt,
        channel -> Text,
        external_id -> Text,
        social_account_id -> BigInt,
        post_external_id -> Nullable<Text>,
        author_external_id -> Nullable<Text>,
        username -> Nullable<Text>,
        customer_id -> Nullable<BigInt>,
        status -> Text,
        snoozed_until -> Nullable<Timestamptz>,
        handling -> Text,
        category -> Nullable<Text>,
        language -> Nullable<Text>,
        decided_comment_id -> Nullable<Text>,
        position -> BigInt,
        messages_count -> BigInt,
        waiting_since -> Nullable<Timestamptz>,
        created_at -> Timestamptz,
        updated_at -> Timestamptz,
    }
}

diesel::table! {
    conversation_messages (account_id, id) {
        account_id -> BigInt,
        id -> BigInt,
        conversation_id -> BigInt,
        channel -> Text,
        external_id -> Text,
        direction -> Text,
        author -> Text,
        author_external_id -> Nullable<Text>,
        body -> Nullable<Text>,
        fingerprint -> Bytea,
        hidden -> Bool,
        deleted_at -> Nullable<Timestamptz>,
        sent_at -> Timestamptz,
        is_undecided -> Bool,
        vote_due_at -> Nullable<Timestamptz>,
        edited_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    reply_templates (account_id, id) {
        account_id -> BigInt,
        id -> BigInt,
        name -> Text,
        category -> Text,
        language -> Text,
        state -> Text,
        version -> BigInt,
        approved_version -> Nullable<BigInt>,
        used_count -> BigInt,
        created_at -> Timestamptz,
        updated_at -> Timestamptz,
    }
}

diesel::table! {
    reply_template_versions (account_id, template_id, version) {
        account_id -> BigInt,
        template_id -> BigInt,
        version -> BigInt,
        category -> Text,
        language -> Text,
        variations -> Array<Text>,
        approved_by -> Nullable<Text>,
        approved_at -> Nullable<Timestamptz>,
        created_at -> Timestamptz,
    }
}

diesel::table! {
    auto_replies (account_id, channel, comment_id) {
        account_id -> BigInt,
        channel -> Text,
        comment_id -> Text,
        conversation_id -> BigInt,
        state -> Text,
        reason -> Nullable<Text>,
        author -> Text,
        actor -> Text,
        mode -> Text,
        category -> Text,
        language -> Nullable<Text>,
        confidence -> Numeric,
        hits -> Array<Text>,
        comment_hash -> Bytea,
        template_id -> Nullable<BigInt>,
        template_version -> Nullable<BigInt>,
        message -> Nullable<Text>,
        author_external_id -> Nullable<Text>,
        post_external_id -> Nullable<Text>,
        decided_at -> Timestamptz,
        claim -> BigInt,
        attempts -> BigInt,
        looks -> BigInt,
        due_at -> Nullable<Timestamptz>,
        reserved_at -> Nullable<Timestamptz>,
        sent_at -> Nullable<Timestamptz>,
        reply_id -> Nullable<Text>,
        recovered -> Bool,
        may_retry -> Bool,
        judged_at -> Nullable<Timestamptz>,
        judged_correct -> Nullable<Bool>,
        judged_category -> Nullable<Text>,
    }
}

diesel::table! {
    customer_handles (account_id, channel, author_external_id) {
        account_id -> BigInt,
        channel -> Text,
        author_external_id -> Text,
        customer_id -> BigInt,
        how -> Text,
        linked_at -> Timestamptz,
    }
}

diesel::table! {
    social_opt_outs (account_id, channel, author_external_id) {
        account_id -> BigInt,
        channel -> Text,
        author_external_id -> Text,
        opted_out_at -> Timestamptz,
    }
}

diesel::table! {
    social_removals (account_id, channel, comment_id) {
        account_id -> BigInt,
        channel -> Text,
        comment_id -> Text,
        is_deleted -> Bool,
        told_at -> Timestamptz,
    }
}

diesel::table! {
    social_votes (account_id, channel, comment_id) {
        account_id -> BigInt,
        channel -> Text,
        comment_id -> Text,
        run_id -> BigInt,
        comment_hash -> Bytea,
        verdict -> Nullable<Text>,
        template_id -> Nullable<BigInt>,
        reserved_at -> Timestamptz,
    }
}

// Only tables that a query of the builder has together: each pair costs the compiler ten implementations.
diesel::allow_tables_to_appear_in_same_query!(users, people, memberships, sessions, accounts, second_factors);
diesel::allow_tables_to_appear_in_same_query!(accounts, api_keys);
diesel::allow_tables_to_appear_in_same_query!(accounts, job_runs);
diesel::allow_tables_to_appear_in_same_query!(job_runs, job_results);
diesel::allow_tables_to_appear_in_same_query!(deliveries, events);
diesel::allow_tables_to_appear_in_same_query!(deliveries, webhook_subscriptions);
diesel::allow_tables_to_appear_in_same_query!(credit_balances, ai_access, credit_transactions);
diesel::allow_tables_to_appear_in_same_query!(conversations, customers, auto_replies);

diesel::joinable!(memberships -> people (person_id));
diesel::joinable!(api_keys -> accounts (account_id));
