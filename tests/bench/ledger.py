"""Hours charged per second on the site's own path, against pgbench's TPC-B-like on the same cluster.

A transfer is one charged hour: a hold captured, a wallet debited, a seller credited; one journal,
five postings, one line for the statement. Slices of ours alternate with slices of pgbench, so that
other work on the machine weighs on both; the ratio is the median over the rounds.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from multiprocessing import get_context
from multiprocessing.queues import Queue
from statistics import median

from django.db import connection, connections

from billing.money import Tally
from billing.operations.charges import HourCharge, charge_hours
from billing.operations.holds import place_hold
from billing.operations.proofs import billing_differences
from config.stack.accounts import server_account
from config.stack.binaries import postgres_folder
from tests.bench.results import Result
from tests.factories import T0, OrganisationFactory, fund_wallet

WALLETS = 1_000
SELLERS = 50
# pgbench's own advice: at least as many branches as clients; the notes measured with ten.
SCALE = 10
ROUNDS = 3
SLICE_SECONDS = 3
HOUR = Tally(net_minor=1_000, vat_minor=200, seller_minor=900)
ENOUGH_MINOR = 10**12


@dataclass(frozen=True)
class Case:
    """So many clients, each charging so many hours in one transaction."""

    clients: int
    batch: int

    @property
    def name(self) -> str:
        how = "one by one" if self.batch == 1 else f"in batches of {self.batch}"
        return f"hours charged {how}, {_clients(self.clients)}"


CASES = (Case(1, 1), Case(2, 1), Case(1, 100), Case(1, 1_000))


def run() -> Iterator[Result]:
    """Yield each case's rate, after the rates of pgbench that it is compared with."""
    sellers = [OrganisationFactory.create().pk for _ in range(SELLERS)]
    for number in range(WALLETS):
        buyer = OrganisationFactory.create()
        fund_wallet(buyer, amount_minor=ENOUGH_MINOR)
        place_hold(
            organisation_id=buyer.pk,
            currency="EUR",
            amount_minor=ENOUGH_MINOR,
            purpose=f"bid:{number}",
            now=T0,
        )
    pgbench("-i", "-q", "-s", str(SCALE))
    numbers = count(1)
    for case in CASES:
        yield from measure(case, sellers=sellers, numbers=numbers)
    for difference in billing_differences():
        sys.exit(f"the ledger is wrong after the measurement: {difference}")


def measure(case: Case, *, sellers: list[int], numbers: Iterator[int]) -> Iterator[Result]:
    theirs, ours, ratios = [], [], []
    for _ in range(ROUNDS):
        tpc_b = tpc_b_per_second(clients=case.clients)
        rate = charges_per_second(case, sellers=sellers, first=next(numbers))
        theirs.append(tpc_b)
        ours.append(rate)
        ratios.append(rate / tpc_b)
    yard = f"pgbench TPC-B-like, {_clients(case.clients)}"
    yield Result(yard, round(median(theirs), 1), "transactions/s")
    yield Result(case.name, round(median(ours), 1), "transfers/s", yard, round(median(ratios), 2))


def tpc_b_per_second(*, clients: int) -> float:
    output = pgbench(
        "-n", "-c", str(clients), "-j", str(clients), "-T", str(SLICE_SECONDS), "-M", "prepared"
    )
    found = re.search(r"tps = ([0-9.]+)", output)
    assert found is not None, output
    return float(found[1])


def charges_per_second(case: Case, *, sellers: list[int], first: int) -> float:
    """Run the case's clients as processes of their own and add up their rates."""
    connections.close_all()
    context = get_context("fork")
    rates: Queue[float] = context.Queue()
    clients = [
        context.Process(target=_client, args=(case, client, sellers, first, rates))
        for client in range(case.clients)
    ]
    for client in clients:
        client.start()
    total = sum(rates.get(timeout=SLICE_SECONDS + 60) for _ in clients)
    for client in clients:
        client.join()
    return total


def _client(case: Case, client: int, sellers: list[int], first: int, rates: "Queue[float]") -> None:
    charge = _charger(case, client=client, sellers=sellers, first=first)
    charge()  # The connection and the first plans are no part of the measure.
    started = time.perf_counter()
    done = 0
    while (elapsed := time.perf_counter() - started) < SLICE_SECONDS:
        charge()
        done += case.batch
    rates.put(done / elapsed)
    connection.close()


def _charger(
    case: Case, *, client: int, sellers: list[int], first: int
) -> Callable[[], dict[str, int]]:
    """Return a function that charges the next hours; no key comes twice in a measurement."""
    turns = count()

    def charge() -> dict[str, int]:
        turn = next(turns)
        rentals = [
            (turn * case.batch + place) * case.clients + client for place in range(case.batch)
        ]
        return charge_hours(
            charges=[
                HourCharge(
                    key=f"charge:{case.batch}.{case.clients}.{first}:{rental}",
                    hold_purpose=f"bid:{rental % WALLETS}",
                    seller_id=sellers[rental % SELLERS],
                    vat_country="FR",
                    tally=HOUR,
                    source_id=rental,
                    occurred_at=T0,
                )
                for rental in rentals
            ]
        )

    return charge


def pgbench(*arguments: str) -> str:
    """Run the wheel's pgbench on the database of this measurement; return what it printed."""
    settings = connection.settings_dict
    program = postgres_folder(account=server_account()) / "pgbench"
    environment = {
        **os.environ,
        "PGHOST": settings["HOST"],
        "PGPORT": settings["PORT"],
        "PGUSER": settings["USER"],
        "PGPASSWORD": settings["PASSWORD"],
    }
    done = subprocess.run(
        [str(program), *arguments, settings["NAME"]],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"pgbench failed: {done.stderr.strip()}")
    return done.stdout


def _clients(number: int) -> str:
    return "1 client" if number == 1 else f"{number} clients"
