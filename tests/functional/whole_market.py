"""A market with something of everybody's in it, and everybody who may look at it."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.test import Client
from django.urls import reverse
from django.utils import translation

from billing.models import BillingProfile, Hold, HoldMove, Journal, TopUp
from billing.money import Currency
from billing.operations.topups import set_gate
from catalog.models import Guide, GuideText
from marketplace.accounts import clock
from marketplace.accounts.models import (
    ApiToken,
    Invitation,
    Mail,
    Membership,
    Organisation,
    SshKey,
    User,
)
from marketplace.accounts.operations.devices import Visit, note_device
from marketplace.accounts.operations.keys import add_ssh_key
from marketplace.accounts.operations.tokens import create_token
from marketplace.models import (
    Bid,
    Command,
    Fill,
    Intention,
    MarketState,
    MemoryTest,
    Offer,
    Rental,
    Seller,
    Server,
)
from marketplace.operations.market_state import set_market_state
from marketplace.operations.matching import match_shard
from marketplace.operations.memory_tests import create_memory_test
from sizing.measure.runs import MeasuredRun, Work
from sizing.shapes.language_models import model_by_slug
from tests.builders import FINGERPRINT
from tests.exchange import SSH_KEY, make_offer, place
from tests.factories import (
    GpuModelFactory,
    MembershipFactory,
    OrganisationFactory,
    SellerFactory,
    ServerFactory,
    UserFactory,
    fund_wallet,
)

BACKEND = "allauth.account.auth_backends.AuthenticationBackend"
SLUG = "rtx-4090"
LABEL = "label-zebra"
HOST = "zebra.example.com"
# Bytes without meaning, in the base 32 that one-time codes use.
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"

# What only the buyer's people may read, wherever it stands.
BUYERS_SECRETS = (
    "Zebra Research",
    "zebra-owner@example.com",
    LABEL,
    "7,654.32",
    "7\N{NARROW NO-BREAK SPACE}654,32",
)
# What the two parties of a rental share, and nobody else reads.
SHARED_SECRETS = (HOST, SSH_KEY.split()[1], FINGERPRINT)
# What only the seller's people may read.
SELLERS_SECRETS = ("Quagga Machines", "quagga-owner@example.com", "quagga-rack-7")

# Every table that a refused request must leave as it was.
GUARDED = (
    ApiToken,
    Bid,
    BillingProfile,
    Command,
    Fill,
    Hold,
    HoldMove,
    Intention,
    Invitation,
    Journal,
    Membership,
    MemoryTest,
    Offer,
    Organisation,
    Rental,
    Seller,
    Server,
    SshKey,
    TopUp,
)


@dataclass(frozen=True)
class WholeMarket:
    """One buyer's organisation with all four roles, one seller's, a stranger and staff."""

    people: dict[str, User]
    buyers: Organisation
    sellers: Organisation
    server: Server
    free_server: Server
    offer: Offer
    waiting: Bid
    bought: Bid
    rental: Rental
    intention: Intention
    memory_test: MemoryTest
    top_up: TopUp
    mail: Mail
    key: SshKey
    device: UserSession
    token: ApiToken
    invitation: Invitation
    membership: Membership
    guide: GuideText

    def browser_of(self, name: str, *, checks_csrf: bool = False) -> Client:
        client = Client(enforce_csrf_checks=checks_csrf)
        if name != "nobody":
            client.force_login(self.people[name], backend=BACKEND)
        return client

    def numbers(self) -> dict[str, int]:
        """Return the number that each address with a number wants, by the address's name."""
        return {
            "marketplace:order": self.waiting.pk,
            "marketplace:order_cancel": self.waiting.pk,
            "marketplace:intention_withdraw": self.intention.pk,
            "marketplace:memory_test": self.memory_test.pk,
            "marketplace:memory_test_script": self.memory_test.pk,
            "marketplace:memory_test_upload": self.memory_test.pk,
            "marketplace:rental": self.rental.pk,
            "marketplace:rental_stop": self.rental.pk,
            "marketplace:rental_wait": self.rental.pk,
            "marketplace:server": self.server.pk,
            "marketplace:offer_add": self.free_server.pk,
            "marketplace:offer_withdraw": self.offer.pk,
            "marketplace:sale": self.rental.pk,
            "billing:top_up_status": self.top_up.pk,
            "accounts:outbox_mail": self.mail.pk,
            "accounts:key_remove": self.key.pk,
            "accounts:device_end": self.device.pk,
            "accounts:token_revoke": self.token.pk,
            "accounts:switch": self.buyers.pk,
            "accounts:member_remove": self.membership.pk,
            "catalog:guide_preview": self.guide.pk,
            "accounts:invitation_accept": self.invitation.pk,
            "accounts:invitation_decline": self.invitation.pk,
            "accounts:invitation_withdraw": self.invitation.pk,
            "mfa_remove_webauthn": 1,
            "mfa_edit_webauthn": 1,
        }


def make_whole_market() -> WholeMarket:
    now = clock.now()
    people = _people()
    buyers = _organisation("Zebra Research", owner=people["buyer"])
    for role in ("trader", "billing", "viewer"):
        MembershipFactory.create(organisation=buyers, user=people[role], role=role)
    _organisation("Strangers", owner=people["stranger"])
    sellers = _organisation("Quagga Machines", owner=people["seller"])
    SellerFactory.create(organisation=sellers)
    for organisation in Organisation.objects.all():
        BillingProfile.objects.create(
            organisation=organisation, legal_name=organisation.name, country="FR", updated_at=now
        )
    set_gate(is_open=True, now=now)
    set_market_state(
        state=MarketState.State.OPEN, reason="launch", staff_id=people["staff"].pk, now=now
    )
    server, free_server, offer = _supply(sellers, now=now)
    fund_wallet(buyers, amount_minor=7_654_32)
    bought, waiting = _orders(buyers, now=now)
    return WholeMarket(
        people=people,
        buyers=buyers,
        sellers=sellers,
        server=server,
        free_server=free_server,
        offer=offer,
        waiting=waiting,
        bought=bought,
        rental=_handed_over(bought, now=now),
        intention=_intention(waiting, now=now),
        memory_test=make_memory_test(waiting, now=now),
        top_up=_top_up(buyers, people["buyer"], now=now),
        mail=Mail.objects.create(
            to_address="mail@example.com", subject="A mail", body_text="Text", created_at=now
        ),
        key=add_ssh_key(
            user_id=people["buyer"].pk, name="zebra-laptop", public_key=SSH_KEY, now=now
        ),
        device=_device(people["buyer"], now=now),
        token=_token(people["buyer"], buyers, now=now),
        invitation=Invitation.objects.create(
            organisation=buyers,
            email="invited@example.com",
            role=Membership.Role.VIEWER,
            invited_by=people["buyer"],
            created_at=now,
        ),
        membership=Membership.objects.get(organisation=buyers, user=people["viewer"]),
        guide=_guide(now=now),
    )


def _guide(*, now: datetime) -> GuideText:
    """Return the English text of a guide that both languages have at one address."""
    guide = Guide.objects.create(key="guide")
    texts = [
        GuideText.objects.create(
            guide=guide,
            language=language,
            slug=SLUG,
            title="Guide",
            short_title="Guide",
            description=sentence,
            body="## Part",
            state=GuideText.State.PUBLISHED,
            published_on=now.date(),
            reviewed_on=now.date(),
        )
        for language, sentence in (
            ("en", "A guide that only tests read, in one sentence."),
            ("fr", "Un guide que seuls les tests lisent, en une phrase."),
        )
    ]
    return texts[0]


def counted() -> dict[str, list[tuple[object, ...]]]:
    """Return every row that a refusal must leave as it was."""
    return {model.__name__: list(model.objects.order_by("pk").values_list()) for model in GUARDED}


def address_of(name: str, *args: object, language: str = "en") -> str:
    with translation.override(language):
        return reverse(name, args=args)


def _people() -> dict[str, User]:
    people = {
        name: UserFactory.create(email=f"{name}@example.com", name=name.title())
        for name in ("trader", "billing", "viewer", "stranger", "invited")
    }
    people["buyer"] = UserFactory.create(email="zebra-owner@example.com", name="Zebra")
    people["seller"] = UserFactory.create(email="quagga-owner@example.com", name="Quagga")
    for name in ("staff", "admin"):
        people[name] = UserFactory.create(
            email=f"{name}@example.com", is_staff=True, is_superuser=True
        )
        _organisation(name.title(), owner=people[name])
    Authenticator.objects.create(
        user=people["admin"], type=Authenticator.Type.TOTP, data={"secret": SECRET}
    )
    _organisation("Invited", owner=people["invited"])
    return people


def _organisation(name: str, *, owner: User) -> Organisation:
    kind = Organisation.Kind.COMPANY if name == "Quagga Machines" else Organisation.Kind.PERSON
    organisation: Organisation = OrganisationFactory.create(name=name, kind=kind, personal_of=owner)
    MembershipFactory.create(organisation=organisation, user=owner)
    return organisation


def _supply(sellers: Organisation, *, now: datetime) -> tuple[Server, Server, Offer]:
    model = GpuModelFactory.create(slug=SLUG)
    server = ServerFactory.create(organisation=sellers, gpu_model=model, name="quagga-rack-7")
    free = ServerFactory.create(organisation=sellers, gpu_model=model, name="quagga-rack-8")
    hour = _next_hour(now)
    offer = make_offer(server=server, windows=((hour, hour + timedelta(days=7)),), now=now)
    match_shard(now=now)
    return server, free, offer


def _orders(buyers: Organisation, *, now: datetime) -> tuple[Bid, Bid]:
    start = _next_hour(now) + timedelta(hours=1)
    bought = place(
        buyers,
        now=now,
        kind=Bid.Kind.BUY_NOW,
        limit_price_micro=400_000,
        earliest_start=start,
        label=LABEL,
        currency=Currency.EUR,
    )
    waiting = place(buyers, now=now, limit_price_micro=123_000, label=LABEL)
    match_shard(now=now)
    for bid in (bought, waiting):
        bid.refresh_from_db()
    return bought, waiting


def _handed_over(bid: Bid, *, now: datetime) -> Rental:
    """Return the rental with its machine open, which no machine on the network could give."""
    rental = Rental.objects.get(fill__bid=bid)
    rental.state = Rental.State.READY
    rental.host, rental.port, rental.username = HOST, 2222, "gpu"
    rental.host_key_fingerprint = FINGERPRINT
    rental.handed_over_at = rental.ready_at = rental.access_opened_at = now
    rental.save()
    return rental


def _intention(bid: Bid, *, now: datetime) -> Intention:
    """Return what the buyers would have ordered before the opening."""
    return Intention.objects.create(
        organisation=bid.organisation,
        saved_by=bid.placed_by,
        gpu_model=bid.gpu_model,
        gpus=1,
        hours=3,
        currency="EUR",
        limit_price_micro=234_000,
        label=LABEL,
        key="first",
        saved_at=now,
    )


def make_memory_test(bid: Bid, *, now: datetime) -> MemoryTest:
    """Return a test that waits for its measurement."""
    run = MeasuredRun(
        model=model_by_slug("llama-3.1-8b"),
        work=Work.INFERENCE,
        sequence_tokens=2048,
        new_tokens=128,
    )
    return create_memory_test(
        organisation_id=bid.organisation_id,
        gpu_model_slug=bid.gpu_model.slug,
        run=run,
        actor_id=bid.placed_by_id,
        key="first",
        now=now,
    )


def _top_up(organisation: Organisation, user: User, *, now: datetime) -> TopUp:
    return TopUp.objects.create(
        organisation=organisation,
        user=user,
        currency="EUR",
        amount_minor=1_234_56,
        state=TopUp.State.EXPIRED,
        idempotency_key="first",
        created_at=now,
    )


def _device(user: User, *, now: datetime) -> UserSession:
    """Return a browser elsewhere; its session ended, so it is on no list."""
    visit = Visit(user.pk, "elsewhere", "192.0.2.1", "Mozilla/5.0 (X11; Linux) Firefox/140.0")
    note_device(visit=visit, now=now)
    found: UserSession = UserSession.objects.get(session_key="elsewhere")
    return found


def _token(user: User, organisation: Organisation, *, now: datetime) -> ApiToken:
    membership = Membership.objects.get(user=user, organisation=organisation)
    token, _text = create_token(
        membership=membership, name="zebra-job", scopes=["read"], lifetime=None, now=now
    )
    return token


def _next_hour(now: datetime) -> datetime:
    return now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
