"""What the exchange's operations ask: the market's state, sizes, counts of open orders."""

from django.db.models import Max, Q

from billing.models import Account, TopUp
from marketplace.models import Bid, MarketState, Seller, Server

# The largest machine that a server row may describe.
MAX_GPUS_PER_SERVER = 16


def market_state(*, gpu_model_id: int) -> MarketState.State:
    """Return the state that counts for a model: the market's own while it is not open."""
    rows = MarketState.objects.filter(Q(gpu_model=None) | Q(gpu_model_id=gpu_model_id))
    states = {row.gpu_model_id: MarketState.State(row.state) for row in rows}
    if states[None] != MarketState.State.OPEN:
        return states[None]
    return states.get(gpu_model_id, states[None])


def largest_server_gpus(*, gpu_model_id: int) -> int:
    """Return the most GPUs that one server of the model has; any size while there is none."""
    servers = Server.objects.filter(
        gpu_model_id=gpu_model_id,
        is_suspended=False,
        organisation__seller__state=Seller.State.VERIFIED,
    )
    return servers.aggregate(most=Max("gpu_count"))["most"] or MAX_GPUS_PER_SERVER


def open_bids_count(*, organisation_id: int) -> int:
    return Bid.objects.filter(
        organisation_id=organisation_id, status__in=[Bid.Status.PENDING, Bid.Status.RESTING]
    ).count()


def has_topped_up(*, organisation_id: int) -> bool:
    """Say whether a payment of this organisation has ever arrived."""
    return TopUp.objects.filter(organisation_id=organisation_id, state=TopUp.State.PAID).exists()


def free_minor(*, organisation_id: int, currency: str) -> int:
    """Return the free balance of a wallet, zero while there is none."""
    wallet = Account.objects.filter(
        kind=Account.Kind.WALLET, organisation_id=organisation_id, currency=currency
    ).first()
    return wallet.free_minor if wallet else 0
