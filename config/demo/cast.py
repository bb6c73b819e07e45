"""Who and what the demo's world consists of: cards with their prices, sellers, customers, machines.

Everything is invented. Pure: no database, no clock.
"""

from dataclasses import dataclass

from billing.money import MICRO_PER_MINOR, Currency

# Everybody of the demo has an address here; nobody real ever has.
EMAIL_DOMAIN = "demo.example"
CUSTOMER_EMAIL = f"camille@{EMAIL_DOMAIN}"
SELLER_EMAIL = f"marc@{EMAIL_DOMAIN}"
ADMIN_EMAIL = f"admin@{EMAIL_DOMAIN}"

# What a dollar's price becomes in the other currencies, in hundredths.
PERCENT_OF_USD = {Currency.USD: 100, Currency.EUR: 92, Currency.GBP: 79}


@dataclass(frozen=True, slots=True)
class Card:
    """A GPU model that the demo trades. ``usd_cents`` is its best ask at the end of the history."""

    slug: str
    usd_cents: int
    best_gpus: int
    is_featured: bool = True
    has_gbp: bool = True

    def ask_micro(self, currency: Currency) -> int:
        """Return the best ask in a currency at the end of the history, to the cent."""
        cents = -(-self.usd_cents * PERCENT_OF_USD[currency] // 100)
        return cents * MICRO_PER_MINOR


FEATURED = (
    Card("rtx-4090", 33, 4),
    Card("h100-sxm", 288, 8),
    Card("rtx-5090", 69, 4),
    Card("a100-sxm-80", 179, 8),
    Card("l40s", 79, 8),
    Card("rtx-6000-ada", 74, 4, has_gbp=False),
    Card("rtx-pro-6000-blackwell", 169, 4),
    Card("h200-sxm", 419, 8),
    Card("rtx-a6000", 33, 4, has_gbp=False),
)
OTHERS = (
    Card("rtx-3090", 21, 4, is_featured=False),
    Card("b200-sxm", 549, 8, is_featured=False),
    Card("l4", 46, 4, is_featured=False),
    Card("mi300x", 229, 8, is_featured=False),
)


@dataclass(frozen=True, slots=True)
class Company:
    """A seller and the person who owns it."""

    key: str
    name: str
    owner: str
    email: str
    region: str
    language: str = "en"


COMPANIES = (
    Company("rhone", "Rhône Calcul SAS", "Marc Delorme", SELLER_EMAIL, "eu-west", "fr"),
    Company("ridge", "Blue Ridge Compute LLC", "Dana Whitlock", "dana@" + EMAIL_DOMAIN, "us-east"),
    Company("nordhall", "Nordhall Compute AB", "Elin Sandvik", "elin@" + EMAIL_DOMAIN, "eu-north"),
    Company(
        "elbe", "Elbwerk Rechenzentrum GmbH", "Jonas Reuter", "jonas@" + EMAIL_DOMAIN, "eu-central"
    ),
    Company("tyne", "Tynebank Cloud Ltd", "Priya Hallam", "priya@" + EMAIL_DOMAIN, "uk"),
    Company("cascade", "Cascade Racks Inc.", "Theo Marsh", "theo@" + EMAIL_DOMAIN, "us-west"),
    Company("meseta", "Meseta Datos SL", "Lucía Ferrer", "lucia@" + EMAIL_DOMAIN, "eu-west"),
    Company("vistula", "Wiślana Moc sp. z o.o.", "Ola Kowal", "ola@" + EMAIL_DOMAIN, "eu-central"),
)
# Waits for staff to verify it, so that the administration has something to decide.
APPLICANT = Company("laguna", "Laguna HPC Srl", "Bruno Costa", "bruno@" + EMAIL_DOMAIN, "eu-west")


@dataclass(frozen=True, slots=True)
class Customer:
    """A buyer, with wallets in ``currencies``."""

    key: str
    name: str
    country: str
    currencies: tuple[Currency, ...]
    city: str
    company: str = ""
    language: str = "en"
    time_zone: str = "Europe/Paris"

    @property
    def email(self) -> str:
        return f"{self.key}@{EMAIL_DOMAIN}"


EUR, USD, GBP = Currency.EUR, Currency.USD, Currency.GBP
CAMILLE = Customer("camille", "Camille Aubert", "FR", (EUR, USD, GBP), "Grenoble", language="fr")
CUSTOMERS = (
    CAMILLE,
    Customer("ines", "Inès Morvan", "FR", (EUR,), "Brest", language="fr"),
    Customer("hugo", "Hugo Lestrade", "FR", (EUR, USD), "Lille", "Lestrade Vision SARL", "fr"),
    Customer("margaux", "Margaux Tissot", "FR", (EUR,), "Nantes", language="fr"),
    Customer("pieter", "Pieter van Loon", "NL", (EUR,), "Utrecht", "Van Loon Spraak BV"),
    Customer("klara", "Klara Brandt", "DE", (EUR, USD), "Leipzig", "Brandt Robotik GmbH"),
    Customer("matteo", "Matteo Rinaldi", "IT", (EUR,), "Turin"),
    Customer("noa", "Noa Iglesias", "ES", (EUR,), "Valencia"),
    Customer("sofie", "Sofie Maes", "BE", (EUR,), "Ghent", language="fr"),
    Customer("aidan", "Aidan Keane", "IE", (EUR, GBP), "Cork", time_zone="Europe/Dublin"),
    Customer("gareth", "Gareth Pryce", "GB", (GBP,), "Cardiff", time_zone="Europe/London"),
    Customer(
        "amara", "Amara Osei", "GB", (GBP,), "Leeds", "Osei Audio Ltd", time_zone="Europe/London"
    ),
    Customer("fiona", "Fiona Laird", "GB", (GBP,), "Dundee", time_zone="Europe/London"),
    Customer("rohan", "Rohan Mistry", "GB", (GBP, USD), "Bristol", time_zone="Europe/London"),
    Customer("beth", "Beth Colman", "US", (USD,), "Austin", time_zone="America/Chicago"),
    Customer(
        "diego",
        "Diego Farrell",
        "US",
        (USD,),
        "Portland",
        "Farrell Maps LLC",
        time_zone="America/Los_Angeles",
    ),
    Customer("grace", "Grace Tan", "SG", (USD,), "Singapore", time_zone="Asia/Singapore"),
    Customer("kenji", "Kenji Arai", "JP", (USD,), "Osaka", time_zone="Asia/Tokyo"),
    Customer(
        "leila",
        "Leila Haddad",
        "CA",
        (USD,),
        "Montréal",
        language="fr",
        time_zone="America/Toronto",
    ),
    Customer("owen", "Owen Baxter", "US", (USD,), "Boulder", time_zone="America/Denver"),
    Customer("tessa", "Tessa Lindqvist", "SE", (USD, EUR), "Lund"),
    Customer("milan", "Milan Horák", "CZ", (USD,), "Brno", "Horák Genomika s.r.o."),
    Customer("zoe", "Zoë Marchetti", "CH", (USD, EUR), "Lausanne", language="fr"),
    Customer("yusuf", "Yusuf Demir", "PT", (GBP, USD), "Porto"),
)


@dataclass(frozen=True, slots=True)
class Machine:
    """A server of the demo: where its last listing stands in its market, as ``percent`` of the best."""

    company: Company
    card: Card
    currency: Currency
    gpus: int
    percent: int
    tier: str = "standard"
    min_hours: int = 1
    gpu_step: int = 1

    @property
    def name(self) -> str:
        return f"{self.company.key}-{self.card.slug}"

    @property
    def is_best(self) -> bool:
        return self.percent == BEST

    @property
    def ask_micro(self) -> int:
        """Return the ask of the last listing, to the cent; dearer levels differ by a cent at least."""
        best = self.card.ask_micro(self.currency) // MICRO_PER_MINOR
        level = best if self.is_best else max(best * self.percent // 100, best + 1)
        return level * MICRO_PER_MINOR


BEST = 100
SECOND = 107
THIRD = 116
CERTIFIED = "datacentre"
# Dear cards come by eight in every currency.
DEAR_CENTS = 200
# Cards whose market in dollars shows a third level.
THREE_LEVELS = frozenset({"rtx-4090", "h100-sxm"})


def machines(cards: tuple[Card, ...] = FEATURED + OTHERS) -> tuple[Machine, ...]:
    """Return the machines that sell these cards, each market's best first."""
    found: list[Machine] = []
    for number, card in enumerate(cards):
        # Three is coprime with the number of companies: the sellers of one card all differ.
        row = [COMPANIES[(number * 3 + place) % len(COMPANIES)] for place in range(5)]
        found += _machines_of(card, row)
    return tuple(found)


def _machines_of(card: Card, row: list[Company]) -> list[Machine]:
    best = Machine(row[0], card, Currency.USD, card.best_gpus, BEST)
    if not card.is_featured:
        return [best]
    large = card.best_gpus if card.usd_cents >= DEAR_CENTS else 2
    found = [
        best,
        Machine(row[1], card, Currency.USD, 2, SECOND, tier=CERTIFIED),
        Machine(row[2], card, Currency.EUR, large, BEST),
    ]
    if card.has_gbp:
        found.append(Machine(row[3], card, Currency.GBP, 2, BEST))
    if card.slug in THREE_LEVELS:
        found.append(
            Machine(row[4], card, Currency.USD, 4, THIRD, CERTIFIED, min_hours=3, gpu_step=2)
        )
    return found
