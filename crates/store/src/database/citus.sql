-- Distributes the tables over the nodes of a Citus cluster: what belongs to an account lives in shards by account_id, all
-- of one account's rows on one node; what is needed before the account is known, or by every account, is on every node.
-- Run it in a database where the extension is there and the nodes are added, after every `api migrate`: tables that are
-- distributed already are left as they are. One transaction: all of it happens, or nothing.
BEGIN;
-- Reference tables are touched along with distributed ones, which Citus allows on one connection per node only.
SET LOCAL citus.multi_shard_modify_mode TO 'sequential';
SET LOCAL client_min_messages TO warning;
DO $$
DECLARE
    -- On every node.
    everywhere CONSTANT text[] := ARRAY['users', 'accounts', 'api_keys', 'platforms'];
    -- The table whose shards the others' shards are kept with.
    first CONSTANT text := 'credit_balances';
    link record;
    name text;
    links text[] := '{}';
BEGIN
    CREATE TEMPORARY TABLE todo ON COMMIT DROP AS
        SELECT c.oid::regclass AS id, c.relname::text AS name, c.relname = ANY (everywhere) AS is_everywhere
        FROM pg_class c
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
            -- A table that was made since, and refers to one that is everywhere, is known as local.
            AND NOT EXISTS (SELECT FROM citus_tables t
                WHERE t.table_name = c.oid AND t.citus_table_type IN ('distributed', 'reference'))
            AND (c.relname = ANY (everywhere) OR EXISTS (
                SELECT FROM pg_attribute a
                WHERE a.attrelid = c.oid AND a.attname = 'account_id' AND NOT a.attisdropped));
    -- A foreign key between a table that is distributed already and one that is not would have to hold at every step.
    FOR link IN
        SELECT k.conrelid::regclass::text AS id, k.conname AS name, pg_get_constraintdef(k.oid) AS definition
        FROM pg_constraint k
        WHERE k.contype = 'f' AND k.conparentid = 0
            AND (k.conrelid IN (SELECT id FROM todo) OR k.confrelid IN (SELECT id FROM todo))
        ORDER BY k.conrelid::regclass::text, k.conname
    LOOP
        EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', link.id, link.name);
        links := links || format('ALTER TABLE %s ADD CONSTRAINT %I %s', link.id, link.name, link.definition);
    END LOOP;
    FOR name IN SELECT t.name FROM todo t WHERE t.is_everywhere ORDER BY array_position(everywhere, t.name) LOOP
        PERFORM create_reference_table(name);
    END LOOP;
    FOR name IN SELECT t.name FROM todo t WHERE NOT t.is_everywhere ORDER BY t.name <> first, t.name LOOP
        PERFORM create_distributed_table(name, 'account_id',
            colocate_with => CASE WHEN name = first THEN 'none' ELSE first END);
    END LOOP;
    FOREACH name IN ARRAY links LOOP
        EXECUTE name;
    END LOOP;
END $$;
COMMIT;
