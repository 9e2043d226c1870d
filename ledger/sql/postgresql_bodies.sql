-- Bodies by month of arrival: the id is a UUIDv7, whose first 48 bits are milliseconds. The
-- DEFAULT partition takes what no month has room for, so that no clock can refuse an insert.

DROP TABLE receipt_body;

CREATE TABLE receipt_body (
  id uuid NOT NULL PRIMARY KEY,
  raw bytea NOT NULL,
  salt bytea NOT NULL,
  headers text NOT NULL
) PARTITION BY RANGE (id);

CREATE TABLE receipt_body_default PARTITION OF receipt_body DEFAULT;

SELECT ledger_protect('receipt_body');
-- A row trigger is inherited by partitions, but neither a statement trigger nor ENABLE ALWAYS is.
SELECT ledger_protect_from_truncate('receipt_body_default');
ALTER TABLE receipt_body_default ENABLE ALWAYS TRIGGER ledger_row;

CREATE FUNCTION ledger_first_id(at timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
  SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- Makes the partition of the month that a day lies in, and says whether it did: not when it is
-- there, and not when the DEFAULT partition has rows of that month already, which stay there.
CREATE FUNCTION ledger_make_body_partition(day date) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  start timestamptz := date_trunc('month', day::timestamp) AT TIME ZONE 'UTC';
  next timestamptz := (date_trunc('month', day::timestamp) + interval '1 month') AT TIME ZONE 'UTC';
  name text := 'receipt_body_' || to_char(day, 'YYYY_MM');
BEGIN
  IF to_regclass(name) IS NOT NULL OR EXISTS (
    SELECT FROM receipt_body_default
    WHERE id >= ledger_first_id(start) AND id < ledger_first_id(next)
  ) THEN
    RETURN false;
  END IF;
  EXECUTE format('CREATE TABLE %I PARTITION OF receipt_body FOR VALUES FROM (%L) TO (%L)',
                 name, ledger_first_id(start), ledger_first_id(next));
  PERFORM ledger_protect_from_truncate(name);
  EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER ledger_row', name);
  RETURN true;
END $$;

SELECT ledger_make_body_partition((now() AT TIME ZONE 'UTC' + make_interval(months => ahead))::date)
FROM generate_series(0, 12) AS ahead;
