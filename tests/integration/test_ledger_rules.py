"""The ledger's rules hold in PostgreSQL, whatever the code does."""

import pytest
from django.db import IntegrityError, connection, transaction

from billing.models import Account, Journal, Posting
from tests.factories import T0, OrganisationFactory

pytestmark = pytest.mark.django_db


def make_wallet(currency: str = "EUR") -> Account:
    organisation = OrganisationFactory.create()
    return Account.objects.create(
        code=f"wallet:{organisation.pk}:{currency}",
        kind=Account.Kind.WALLET,
        currency=currency,
        organisation=organisation,
        keeps_balance=True,
    )


def make_clearing(currency: str = "EUR") -> Account:
    return Account.objects.create(
        code=f"clearing:{currency}", kind=Account.Kind.STRIPE_CLEARING, currency=currency
    )


def make_journal(key: str = "k") -> Journal:
    return Journal.objects.create(
        kind="top_up", idem_key=key, fingerprint="f", source_type="t", source_id=1, occurred_at=T0
    )


def post(journal: Journal, *legs: tuple[Account, int]) -> None:
    Posting.objects.bulk_create(
        Posting(journal=journal, account=a, currency=a.currency, amount_minor=m) for a, m in legs
    )


class TestPosting:
    def test_moves_the_wallets_balance_and_leaves_the_rollup_alone(self):
        wallet, clearing = make_wallet(), make_clearing()

        post(make_journal(), (wallet, 500), (clearing, -500))

        wallet.refresh_from_db()
        clearing.refresh_from_db()
        assert (wallet.posted_minor, clearing.posted_minor) == (500, 0)

    def test_refuses_legs_that_do_not_sum_to_zero(self):
        wallet, clearing = make_wallet(), make_clearing()

        with pytest.raises(IntegrityError, match="does not sum to zero"), transaction.atomic():
            post(make_journal(), (wallet, 500), (clearing, -499))

        wallet.refresh_from_db()
        assert wallet.posted_minor == 0
        assert not Posting.objects.exists()

    def test_refuses_legs_that_balance_only_across_currencies(self):
        wallet, clearing = make_wallet("EUR"), make_clearing("USD")

        with pytest.raises(IntegrityError, match="does not sum to zero"), transaction.atomic():
            post(make_journal(), (wallet, 500), (clearing, -500))

        assert not Posting.objects.exists()

    def test_refuses_a_currency_that_is_not_its_accounts(self):
        wallet, clearing = make_wallet("EUR"), make_clearing("EUR")

        with pytest.raises(IntegrityError, match="billing_posting_account_currency"):
            with transaction.atomic():
                journal = make_journal()
                Posting.objects.bulk_create(
                    Posting(journal=journal, account=a, currency="USD", amount_minor=m)
                    for a, m in ((wallet, 5), (clearing, -5))
                )
                with connection.cursor() as cursor:
                    cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")

    def test_refuses_to_take_a_wallet_below_zero(self):
        wallet, clearing = make_wallet(), make_clearing()

        with pytest.raises(IntegrityError, match="wallet_covers_holds"), transaction.atomic():
            post(make_journal(), (wallet, -1), (clearing, 1))

        assert not Posting.objects.exists()

    def test_refuses_a_journal_without_postings_at_commit(self):
        with pytest.raises(IntegrityError, match="fewer than two"), transaction.atomic():
            make_journal()
            with connection.cursor() as cursor:
                cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")

    @pytest.mark.parametrize("table", ["billing_posting", "billing_journal"])
    @pytest.mark.parametrize("statement", ["UPDATE {} SET id = id", "DELETE FROM {}"])
    def test_is_written_once(self, table, statement):
        wallet, clearing = make_wallet(), make_clearing()
        post(make_journal(), (wallet, 500), (clearing, -500))

        with pytest.raises(IntegrityError, match="written once"), transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(statement.format(table))

        assert Posting.objects.count() == 2

    def test_refuses_an_account_that_is_born_with_money(self):
        with pytest.raises(IntegrityError, match="starts empty"), transaction.atomic():
            Account.objects.create(
                code="x",
                kind=Account.Kind.WALLET,
                currency="EUR",
                keeps_balance=True,
                posted_minor=1,
            )
