from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("marketplace", "0001_initial")]

    operations = [
        migrations.RunSQL(
            sql=(SQL / "0002_server_day_guard.sql").read_text(encoding="utf-8"),
            reverse_sql=(SQL / "0002_server_day_guard_reverse.sql").read_text(encoding="utf-8"),
        ),
    ]
