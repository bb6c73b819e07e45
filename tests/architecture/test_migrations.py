"""The migrations match the models and can be undone."""

import pytest
from django.core.management import call_command


@pytest.mark.django_db
def test_no_model_change_lacks_its_migration():
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)
