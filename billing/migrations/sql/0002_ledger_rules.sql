-- A posting's currency is its account's currency.
ALTER TABLE billing_posting
    ADD CONSTRAINT billing_posting_account_currency
    FOREIGN KEY (account_id, currency) REFERENCES billing_account (id, currency);

-- Each statement that inserts postings sums to zero per journal and currency, and brings the kept
-- balances along. SECURITY DEFINER: the application's role may not update posted_minor itself.
CREATE FUNCTION billing_post() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = public AS $$
DECLARE
    unbalanced record;
BEGIN
    SELECT journal_id, currency, sum(amount_minor) AS total INTO unbalanced
        FROM added GROUP BY journal_id, currency HAVING sum(amount_minor) <> 0 LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'Journal % does not sum to zero in %: % minor units remain.',
            unbalanced.journal_id, unbalanced.currency, unbalanced.total
            USING ERRCODE = 'check_violation', CONSTRAINT = 'billing_posting_zero_sum';
    END IF;
    UPDATE billing_account AS account
        SET posted_minor = account.posted_minor + moved.total
        FROM (SELECT account_id, sum(amount_minor) AS total FROM added GROUP BY account_id) AS moved
        WHERE account.id = moved.account_id AND account.keeps_balance AND moved.total <> 0;
    RETURN NULL;
END
$$;
CREATE TRIGGER billing_posting_zero_sum
    AFTER INSERT ON billing_posting REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION billing_post();

-- A journal has at least two postings when its transaction commits.
CREATE FUNCTION billing_journal_is_whole() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = public AS $$
BEGIN
    IF (SELECT count(*) FROM billing_posting WHERE journal_id = NEW.id) < 2 THEN
        RAISE EXCEPTION 'Journal % has fewer than two postings.', NEW.id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'billing_journal_two_postings';
    END IF;
    RETURN NULL;
END
$$;
CREATE CONSTRAINT TRIGGER billing_journal_two_postings
    AFTER INSERT ON billing_journal DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION billing_journal_is_whole();

-- A kept balance starts at zero and moves by postings only: see billing_post.
CREATE FUNCTION billing_account_starts_empty() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.posted_minor <> 0 OR NEW.held_minor <> 0 THEN
        RAISE EXCEPTION 'An account starts empty; its balance comes from postings.'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'billing_account_starts_empty';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER billing_account_starts_empty
    BEFORE INSERT ON billing_account FOR EACH ROW EXECUTE FUNCTION billing_account_starts_empty();

-- Written once.
CREATE TRIGGER billing_journal_append_only
    BEFORE UPDATE OR DELETE ON billing_journal FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER billing_journal_no_truncate
    BEFORE TRUNCATE ON billing_journal FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER billing_posting_append_only
    BEFORE UPDATE OR DELETE ON billing_posting FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER billing_posting_no_truncate
    BEFORE TRUNCATE ON billing_posting FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
