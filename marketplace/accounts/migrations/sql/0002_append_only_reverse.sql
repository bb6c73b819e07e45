DROP TRIGGER accounts_auditentry_no_truncate ON accounts_auditentry;
DROP TRIGGER accounts_auditentry_append_only ON accounts_auditentry;
DROP FUNCTION refuse_change();
