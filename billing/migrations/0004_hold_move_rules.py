from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("billing", "0003_hold_moves")]

    operations = [
        migrations.RunSQL(
            sql=(SQL / "0004_hold_move_rules.sql").read_text(encoding="utf-8"),
            reverse_sql=(SQL / "0004_hold_move_rules_reverse.sql").read_text(encoding="utf-8"),
        ),
    ]
