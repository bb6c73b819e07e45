from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("accounts", "0007_legal_texts")]

    operations = [
        migrations.RunSQL(
            sql=(SQL / "0008_acceptances.sql").read_text(encoding="utf-8"),
            reverse_sql=(SQL / "0008_acceptances_reverse.sql").read_text(encoding="utf-8"),
        ),
    ]
