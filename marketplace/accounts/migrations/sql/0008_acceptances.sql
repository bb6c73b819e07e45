-- Consent is evidence: once given it is neither changed nor removed.
CREATE TRIGGER accounts_termsacceptance_append_only
    BEFORE UPDATE OR DELETE ON accounts_termsacceptance
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER accounts_termsacceptance_no_truncate
    BEFORE TRUNCATE ON accounts_termsacceptance
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
