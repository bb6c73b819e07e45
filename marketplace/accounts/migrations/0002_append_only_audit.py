from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial")]

    operations = [
        migrations.RunSQL(
            sql=(SQL / "0002_append_only.sql").read_text(encoding="utf-8"),
            reverse_sql=(SQL / "0002_append_only_reverse.sql").read_text(encoding="utf-8"),
        ),
    ]
