-- Append-only on PostgreSQL. Run by the owner of the tables; the application's own role gets
-- SELECT and INSERT only. The function answers before it looks at OLD: one that read OLD first
-- would let TRUNCATE through. ENABLE ALWAYS, since a plain trigger is skipped under
-- session_replication_role = replica (both measured, reference ledger section 3).

CREATE FUNCTION ledger_deny() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'append-only: % on %', TG_OP, TG_TABLE_NAME USING ERRCODE = 'P0A01';
END $$;

CREATE FUNCTION ledger_protect(name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TRIGGER ledger_row BEFORE UPDATE OR DELETE ON %I
                  FOR EACH ROW EXECUTE FUNCTION ledger_deny()', name);
  EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER ledger_row', name);
  PERFORM ledger_protect_from_truncate(name);
END $$;

CREATE FUNCTION ledger_protect_from_truncate(name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TRIGGER ledger_truncate BEFORE TRUNCATE ON %I
                  FOR EACH STATEMENT EXECUTE FUNCTION ledger_deny()', name);
  EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER ledger_truncate', name);
END $$;

SELECT ledger_protect(name) FROM unnest(ARRAY[
  'receipt', 'receipt_key', 'receipt_variant', 'leaf', 'tree_head', 'delivery', 'delivery_body',
  'quarantine'
]) AS name;
