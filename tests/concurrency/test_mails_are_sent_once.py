"""Two workers sweep the same mails: each is sent by one of them."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.core import mail as django_mail
from django.db import connection

from marketplace.accounts.models import Mail
from marketplace.accounts.operations.mails import BATCH, send_due_mails
from tests.factories import T0


@pytest.mark.django_db(transaction=True)
def test_two_workers_never_send_the_same_mail():
    for number in range(BATCH):
        Mail.objects.create(
            to_address=f"p{number}@example.com", subject="S", body_text="T", created_at=T0
        )
    together = Barrier(2)

    def sweep() -> int:
        try:
            together.wait(timeout=10)
            return send_due_mails(now=T0)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        counts = [job.result() for job in [pool.submit(sweep), pool.submit(sweep)]]

    assert sum(counts) == BATCH
    receivers = [message.to[0] for message in django_mail.outbox]
    assert len(receivers) == len(set(receivers)) == BATCH
