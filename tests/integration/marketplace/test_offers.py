"""Sellers, servers and offers: who may list what."""

from datetime import timedelta
from typing import Any

import pytest

from billing.money import Currency
from marketplace.accounts.models import AuditEntry, Organisation
from marketplace.models import Bid, Command, Offer, OfferWindow, Seller, Server
from marketplace.operations.commands import KeyReused
from marketplace.operations.offers import OfferRefused, OfferTerms, list_offer, withdraw_offer
from marketplace.operations.sellers import (
    SellerRefused,
    allow_delivery_by_hand,
    apply_as_seller,
    reject_seller,
    suspend_seller,
    verify_seller,
)
from marketplace.operations.servers import (
    ServerDescription,
    ServerRefused,
    add_server,
    resume_server,
    suspend_server,
)
from tests.exchange import (
    DAY,
    HOUR,
    buy,
    make_customer,
    make_offer,
    match,
    member_of,
    open_market,
    withdraw,
)
from tests.factories import (
    T0,
    GpuModelFactory,
    OrganisationFactory,
    SellerFactory,
    ServerFactory,
    UserFactory,
)

pytestmark = pytest.mark.django_db

QUARTER = timedelta(minutes=15)


def description(**changes: Any) -> ServerDescription:
    facts: dict[str, Any] = {
        "name": "rack-1",
        "gpu_model_slug": "rtx-4090",
        "gpu_count": 4,
        "region": "eu-west",
    }
    return ServerDescription(**(facts | changes))


class TestListing:
    def test_leaves_the_server_and_the_offer_as_commands(self):
        offer = make_offer(min_gpus=2, gpu_step=2, min_hours=3)

        kinds = Command.objects.order_by("id").values_list("kind", flat=True)
        assert list(kinds) == ["change_server", "place_offer"]
        assert offer.status == Offer.Status.PENDING
        assert offer.group_id == offer.organisation_id
        assert AuditEntry.objects.filter(action="offer.place_offer").count() == 1

    def test_joins_windows_that_touch(self):
        make_offer(windows=((T0 + 4 * HOUR, T0 + 8 * HOUR), (T0, T0 + 4 * HOUR)))

        window = OfferWindow.objects.get()
        assert (window.starts_at, window.ends_at) == (T0, T0 + 8 * HOUR)

    @pytest.mark.parametrize(
        ("field", "changes"),
        [
            ("ask_price", {"ask_price_micro": 0}),
            ("ask_price", {"ask_price_micro": -400_000}),
            ("ask_price", {"ask_price_micro": 9_999}),
            ("ask_price", {"ask_price_micro": 100_001_000}),
            ("ask_price", {"ask_price_micro": 400_100}),
            ("currency", {"currency": "CHF"}),
            ("min_gpus", {"min_gpus": 0}),
            ("min_gpus", {"min_gpus": 3}),
            ("gpu_step", {"gpu_step": 0}),
            ("gpu_step", {"gpu_step": 3}),
            ("min_hours", {"min_hours": 0}),
            ("min_hours", {"min_hours": 169}),
            ("windows", {"windows": ()}),
            ("windows", {"windows": ((T0, T0 + DAY),) * 61}),
            ("windows", {"windows": ((T0 + timedelta(minutes=1), T0 + DAY),)}),
            ("windows", {"windows": ((T0, T0 + DAY + timedelta(seconds=1)),)}),
            ("windows", {"windows": ((T0 + DAY, T0 + DAY),)}),
            ("windows", {"windows": ((T0 + DAY, T0),)}),
            ("windows", {"windows": ((T0 - QUARTER, T0 + DAY),)}),
            ("windows", {"windows": ((T0, T0 + 28 * DAY + QUARTER),)}),
            ("windows", {"windows": ((T0, T0 + 2 * HOUR - QUARTER),)}),
        ],
    )
    def test_refuses_by_its_field_and_changes_nothing(self, field, changes):
        server = ServerFactory.create(gpu_count=2)
        facts = {
            "ask_price_micro": 400_000,
            "currency": Currency.EUR,
            "windows": ((T0, T0 + DAY),),
        }

        with pytest.raises(OfferRefused) as refusal:
            list_offer(
                server_id=server.pk,
                organisation_id=server.organisation_id,
                terms=OfferTerms(**(facts | changes)),
                actor_id=member_of(server.organisation).pk,
                now=T0,
            )

        assert refusal.value.field == field
        assert str(refusal.value.message)
        assert not Offer.objects.exists()
        assert not Command.objects.exists()

    def test_a_second_offer_of_a_server_is_refused(self):
        offer = make_offer()

        with pytest.raises(OfferRefused, match="open offer already"):
            make_offer(server=offer.server)

        assert Offer.objects.count() == 1

    def test_again_with_the_same_key_gives_the_same_offer(self):
        server = ServerFactory.create()
        terms = OfferTerms(
            ask_price_micro=400_000, currency=Currency.EUR, windows=((T0, T0 + DAY),)
        )
        facts: dict[str, Any] = {
            "server_id": server.pk,
            "organisation_id": server.organisation_id,
            "actor_id": member_of(server.organisation).pk,
            "now": T0,
            "key": "k",
        }
        first = list_offer(terms=terms, **facts)

        second = list_offer(terms=terms, **facts)

        dearer = OfferTerms(
            ask_price_micro=500_000, currency=Currency.EUR, windows=((T0, T0 + DAY),)
        )
        assert first.pk == second.pk
        with pytest.raises(KeyReused):
            list_offer(terms=dearer, **facts)

    @pytest.mark.parametrize("state", ["applied", "rejected", "suspended"])
    def test_needs_a_verified_seller(self, state):
        seller = SellerFactory.create(state=state)
        server = ServerFactory.create(organisation=seller.organisation)

        with pytest.raises(OfferRefused) as refusal:
            make_offer(server=server)

        assert refusal.value.field == "seller"

    def test_on_a_suspended_server_is_refused(self):
        server = ServerFactory.create(
            is_suspended=True, suspended_at=T0, suspension=Server.Suspension.STAFF
        )

        with pytest.raises(OfferRefused) as refusal:
            make_offer(server=server)

        assert refusal.value.field == "server"

    def test_on_a_strangers_server_finds_nothing(self):
        server = ServerFactory.create()
        stranger = SellerFactory.create().organisation

        with pytest.raises(Server.DoesNotExist):
            list_offer(
                server_id=server.pk,
                organisation_id=stranger.pk,
                terms=OfferTerms(
                    ask_price_micro=400_000, currency=Currency.EUR, windows=((T0, T0 + DAY),)
                ),
                actor_id=member_of(stranger).pk,
                now=T0,
            )


class TestWithdrawing:
    def test_twice_leaves_one_command(self):
        offer = make_offer()

        withdraw(offer)
        withdraw(offer)

        assert Command.objects.filter(kind="withdraw_offer").count() == 1

    def test_a_strangers_offer_finds_nothing(self):
        offer = make_offer()
        stranger = SellerFactory.create().organisation

        with pytest.raises(Offer.DoesNotExist):
            withdraw_offer(
                offer_id=offer.pk,
                organisation_id=stranger.pk,
                actor_id=member_of(stranger).pk,
                now=T0,
            )

    def test_a_closed_offer_is_refused(self):
        offer = make_offer()
        withdraw(offer)
        match()

        with pytest.raises(OfferRefused):
            withdraw(offer)

    def test_lets_the_server_be_offered_again(self):
        offer = make_offer()
        withdraw(offer)
        match()

        again = make_offer(server=offer.server)
        match()

        again.refresh_from_db()
        assert again.status == Offer.Status.OPEN


class TestAServer:
    def test_by_hand_has_four_set_up_slots(self):
        GpuModelFactory.create()
        seller = SellerFactory.create()

        server = add_server(
            organisation_id=seller.organisation_id,
            description=description(ram_gb=256),
            actor_id=member_of(seller.organisation).pk,
            now=T0,
        )

        assert (server.setup_slots, server.gpu_count, server.ram_gb) == (4, 4, 256)
        assert AuditEntry.objects.filter(action="server.add").count() == 1

    @pytest.mark.parametrize(
        ("field", "changes"),
        [
            ("name", {"name": "  "}),
            ("name", {"name": "x" * 61}),
            ("gpu_model", {"gpu_model_slug": "abacus"}),
            ("gpu_count", {"gpu_count": 0}),
            ("gpu_count", {"gpu_count": 17}),
            ("region", {"region": "moon"}),
            ("tier", {"tier": "gold"}),
            ("delivery", {"delivery": "agent"}),
            ("ram_gb", {"ram_gb": -1}),
            ("vcpus", {"vcpus": 2_049}),
            ("disk_gb_per_gpu", {"disk_gb_per_gpu": 1_000_001}),
        ],
    )
    def test_is_refused_by_its_field(self, field, changes):
        GpuModelFactory.create()
        seller = SellerFactory.create()

        with pytest.raises(ServerRefused) as refusal:
            add_server(
                organisation_id=seller.organisation_id,
                description=description(**changes),
                actor_id=member_of(seller.organisation).pk,
                now=T0,
            )

        assert refusal.value.field == field
        assert not Server.objects.exists()

    def test_by_hand_needs_the_leave_of_staff(self):
        GpuModelFactory.create()
        seller = SellerFactory.create(delivers_by_hand=False)

        with pytest.raises(ServerRefused, match="enabled by our staff"):
            add_server(
                organisation_id=seller.organisation_id,
                description=description(),
                actor_id=member_of(seller.organisation).pk,
                now=T0,
            )

    def test_has_a_name_of_its_own(self):
        server = ServerFactory.create(name="rack-1")

        with pytest.raises(ServerRefused) as refusal:
            add_server(
                organisation_id=server.organisation_id,
                description=description(),
                actor_id=member_of(server.organisation).pk,
                now=T0,
            )

        assert refusal.value.field == "name"

    def test_sells_nothing_while_suspended_and_again_after(self):
        open_market()
        offer = make_offer()
        match()
        suspend_server(server_id=offer.server_id, actor_id=None, now=T0)
        refused = buy(make_customer())
        match()
        resume_server(server_id=offer.server_id, actor_id=None, now=T0)
        filled = buy(make_customer())

        match()

        refused.refresh_from_db()
        filled.refresh_from_db()
        assert (refused.status, filled.status) == (Bid.Status.REFUSED, Bid.Status.FILLED)


class TestASeller:
    def test_is_a_company(self):
        person = OrganisationFactory.create(kind=Organisation.Kind.PERSON)

        with pytest.raises(SellerRefused) as refusal:
            apply_as_seller(organisation_id=person.pk, actor_id=UserFactory.create().pk, now=T0)

        assert refusal.value.field == "organisation"
        assert not Seller.objects.exists()

    def test_applies_is_rejected_applies_again_and_is_verified(self):
        company = OrganisationFactory.create(kind=Organisation.Kind.COMPANY)
        member, staff = UserFactory.create(), UserFactory.create(is_staff=True)
        seller = apply_as_seller(organisation_id=company.pk, actor_id=member.pk, now=T0)
        reject_seller(seller_id=seller.pk, reason="No address", staff_id=staff.pk, now=T0)
        apply_as_seller(organisation_id=company.pk, actor_id=member.pk, now=T0)

        seller = verify_seller(seller_id=seller.pk, staff_id=staff.pk, now=T0)

        acts = AuditEntry.objects.filter(object_type="seller").order_by("id")
        assert (seller.state, seller.verified_at, seller.note) == ("verified", T0, "")
        assert [entry.action for entry in acts] == [
            "seller.apply",
            "seller.reject",
            "seller.apply",
            "seller.verify",
        ]

    def test_who_is_suspended_sells_nothing_until_verified_again(self):
        open_market()
        staff = UserFactory.create(is_staff=True)
        offer = make_offer()
        match()
        seller = Seller.objects.get(organisation_id=offer.organisation_id)
        suspend_seller(seller_id=seller.pk, staff_id=staff.pk, now=T0, reason="Check")
        refused = buy(make_customer())
        match()
        verify_seller(seller_id=seller.pk, staff_id=staff.pk, now=T0)
        filled = buy(make_customer())

        match()

        refused.refresh_from_db()
        filled.refresh_from_db()
        assert (refused.status, filled.status) == (Bid.Status.REFUSED, Bid.Status.FILLED)

    def test_may_deliver_by_hand_once_staff_say_so(self):
        seller = SellerFactory.create(delivers_by_hand=False)
        staff = UserFactory.create(is_staff=True)

        allow_delivery_by_hand(seller_id=seller.pk, staff_id=staff.pk, now=T0)
        allow_delivery_by_hand(seller_id=seller.pk, staff_id=staff.pk, now=T0)

        seller.refresh_from_db()
        assert seller.delivers_by_hand is True
        assert AuditEntry.objects.filter(action="seller.allow_by_hand").count() == 1
