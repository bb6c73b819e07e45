"""A form sent twice at the same moment: one row, and words for the other."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from marketplace.models import Seller, Server
from marketplace.operations.servers import ServerDescription, ServerRefused, add_server
from tests.exchange import member_of
from tests.factories import T0, GpuModelFactory, SellerFactory


@pytest.mark.django_db(transaction=True)
def test_a_server_added_twice_at_once_is_added_once():
    seller: Seller = SellerFactory.create()
    GpuModelFactory.create()
    actor_id = member_of(seller.organisation).pk
    together = Barrier(4)

    def add() -> str:
        try:
            together.wait(timeout=10)
            add_server(
                organisation_id=seller.organisation_id,
                description=ServerDescription(
                    name="one", gpu_model_slug="rtx-4090", gpu_count=2, region="eu-west"
                ),
                actor_id=actor_id,
                now=T0,
            )
        except ServerRefused as refused:
            return refused.field
        finally:
            connection.close()
        return "added"

    with ThreadPoolExecutor(4) as pool:
        answers = sorted(job.result() for job in [pool.submit(add) for _click in range(4)])

    assert answers == ["added", "name", "name", "name"]
    assert Server.objects.count() == 1
