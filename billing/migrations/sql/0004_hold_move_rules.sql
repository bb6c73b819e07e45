-- Postings and changes of holds draw their numbers from one sequence, under the wallet's lock, so
-- that a statement has one order.
ALTER TABLE billing_holdmove ALTER COLUMN id DROP IDENTITY;
ALTER TABLE billing_holdmove
    ALTER COLUMN id SET DEFAULT nextval(pg_get_serial_sequence('billing_posting', 'id'));

-- Written once.
CREATE TRIGGER billing_holdmove_append_only
    BEFORE UPDATE OR DELETE ON billing_holdmove FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER billing_holdmove_no_truncate
    BEFORE TRUNCATE ON billing_holdmove FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- These run with their owner's rights: a temporary table of the caller must not stand in for ours.
ALTER FUNCTION billing_post() SET search_path = public, pg_temp;
ALTER FUNCTION billing_journal_is_whole() SET search_path = public, pg_temp;
