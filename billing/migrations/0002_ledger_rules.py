from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("billing", "0001_initial"), ("accounts", "0002_append_only_audit")]

    operations = [
        migrations.RunSQL(
            sql=(SQL / "0002_ledger_rules.sql").read_text(encoding="utf-8"),
            reverse_sql=(SQL / "0002_ledger_rules_reverse.sql").read_text(encoding="utf-8"),
        ),
    ]
