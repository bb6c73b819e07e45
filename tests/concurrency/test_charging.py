"""Hourly charges under threads and killed processes: nothing lost, nothing twice."""

import os
import signal
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection, connections

from billing.models import Journal, Posting
from marketplace.models import Rental, RentalHour
from marketplace.operations.charging import charge_due_hours
from marketplace.operations.probes import probe_due, record_probe
from marketplace.operations.proofs import marketplace_differences
from marketplace.operations.rentals import stop_rental, sweep_rentals
from marketplace.operations.settlement import settle_due_hours
from tests.builders import make_server, sell
from tests.exchange import hold_of, make_customer
from tests.rental_steps import GOOD, at, give_access

pytestmark = pytest.mark.django_db(transaction=True)


def deliver(rental: Rental) -> Rental:
    give_access(rental, at(-5))
    sweep_rentals(now=at(-5))
    record_probe(rental_id=rental.pk, result=GOOD, now=at(-5))
    return rental


def deliver_several(*, rentals: int, hours: int) -> list[Rental]:
    server, customer = make_server(gpu_count=8), make_customer()
    return [deliver(sell(hours=hours, server=server, customer=customer)) for _ in range(rentals)]


def at_once(acts: list) -> list:
    """Run every act in a thread of its own, all at the same moment; return answers or errors."""
    barrier = Barrier(len(acts))

    def run(act):
        barrier.wait()
        try:
            return act()
        except Exception as error:
            return error
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(run, acts))


def assert_each_hour_once(rentals: list[Rental], *, hours: int):
    for rental in rentals:
        rental.refresh_from_db()
        assert rental.hours_charged == hours
        numbers = rental.rental_hours.order_by("number").values_list("number", flat=True)
        assert list(numbers) == list(range(1, hours + 1))
        assert hold_of(rental.fill.bid).captured_minor == 60 * hours
    assert Journal.objects.filter(kind="hour_charge").count() == hours * len(rentals)
    assert sum(Posting.objects.values_list("amount_minor", flat=True)) == 0
    assert marketplace_differences() == []


def test_six_sweeps_at_once_charge_each_hour_once():
    rentals = deliver_several(rentals=4, hours=3)

    answers = at_once([lambda: charge_due_hours(now=at(121))] * 6)
    left = charge_due_hours(now=at(121))

    assert sum(answers) + left == 12
    assert_each_hour_once(rentals, hours=3)


def test_six_settlements_at_once_give_back_once():
    (rental,) = deliver_several(rentals=1, hours=1)
    Rental.objects.update(access_opened_at=at(12), last_verified_at=at(60))
    charge_due_hours(now=at(60))

    answers = at_once([lambda: settle_due_hours(now=at(60))] * 6)
    left = settle_due_hours(now=at(60))

    assert sum(answers) + left == 1
    hour = rental.rental_hours.get()
    assert (hour.undelivered_minutes, hour.credit_net_minor) == (12, 10)
    assert Journal.objects.filter(kind="hour_credit").count() == 1


def test_a_stop_and_sweeps_at_once_end_a_rental_once():
    (rental,) = deliver_several(rentals=1, hours=5)
    stops = [
        lambda: stop_rental(
            rental_id=rental.pk,
            organisation_id=rental.organisation_id,
            actor_id=rental.fill.bid.placed_by_id,
            now=at(10),
        )
    ] * 3

    answers = at_once([*stops, lambda: charge_due_hours(now=at(10)), lambda: sweep(10)])

    rental.refresh_from_db()
    assert sum(type(answer).__name__ == "StopConsequence" for answer in answers) == 1
    assert sum(type(answer).__name__ == "RentalIsOver" for answer in answers) == 2
    assert (rental.end_reason, rental.hours_charged) == ("stopped_by_customer", 1)
    assert (hold_of(rental.fill.bid).captured_minor, hold_of(rental.fill.bid).state) == (
        60 + 24,
        "closed",
    )
    assert marketplace_differences() == []


def sweep(minute: float) -> int:
    return sweep_rentals(now=at(minute))


def test_checks_at_once_look_at_a_machine_once():
    deliver_several(rentals=3, hours=2)
    looks = []

    def look(targets):
        looks.extend(targets)
        return dict.fromkeys(targets, GOOD)

    at_once([lambda: probe_due(now=at(1), look=look)] * 4)

    assert len(looks) == len(set(looks)) == 3


CHARGE_AND_WAIT = """
    import sys, time
    import django
    django.setup()
    from datetime import datetime
    from marketplace.models import {model}
    from marketplace.operations import {module}

    def stop(*args, **kwargs):
        print("in the middle", flush=True)
        time.sleep(60)

    {model}.objects.{step} = stop
    {module}.{act}(now=datetime.fromisoformat(sys.argv[1]))
"""


def kill_in_the_middle(*, model: str, step: str, module: str, act: str, minute: float):
    """Start a process that does ``act`` and stops before ``step``; kill it there, with -9."""
    code = textwrap.dedent(CHARGE_AND_WAIT.format(model=model, step=step, module=module, act=act))
    url = f"postgresql://{connection.settings_dict['USER']}@/{connection.settings_dict['NAME']}"
    host = connection.settings_dict["HOST"]
    process = subprocess.Popen(
        [sys.executable, "-c", code, at(minute).isoformat()],
        env=os.environ | {"MIGRATE_DATABASE_URL": f"{url}?host={host}"},
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "in the middle\n"
        process.send_signal(signal.SIGKILL)


def test_a_process_killed_in_the_middle_of_charging_leaves_nothing_and_the_next_does_all():
    rentals = deliver_several(rentals=3, hours=3)
    charge_due_hours(now=at(0))

    # The journals of six hours are written by then, their rows are not.
    kill_in_the_middle(
        model="RentalHour",
        step="bulk_create",
        module="charging",
        act="charge_due_hours",
        minute=121,
    )
    after_kill = (RentalHour.objects.count(), Journal.objects.filter(kind="hour_charge").count())
    charged = charge_due_hours(now=at(121))

    assert after_kill == (3, 3)
    assert charged == 6
    assert_each_hour_once(rentals, hours=3)


def test_a_process_killed_in_the_middle_of_settling_gives_nothing_back_twice():
    (rental,) = deliver_several(rentals=1, hours=1)
    Rental.objects.update(access_opened_at=at(12), last_verified_at=at(60))
    charge_due_hours(now=at(60))

    # The credit's journal is written by then, the hour's row is not.
    kill_in_the_middle(
        model="RentalHour",
        step="bulk_update",
        module="settlement",
        act="settle_due_hours",
        minute=60,
    )
    after_kill = Journal.objects.filter(kind="hour_credit").count()
    settled = settle_due_hours(now=at(60))

    assert (after_kill, settled) == (0, 1)
    assert Journal.objects.filter(kind="hour_credit").count() == 1
    assert rental.rental_hours.get().credit_net_minor == 10
