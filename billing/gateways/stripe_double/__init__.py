"""A Stripe double: an HTTP server that answers like Stripe's test mode, for demo and tests.

It speaks the part of the API that this site uses, with Stripe's JSON shapes, error bodies,
idempotency keys, hosted payment page and signed webhooks. It never moves money, refuses live
keys, and has switches under ``/_double/`` that make the network misbehave on demand.

Standard library only and no Django, so that it runs as its own process:
``python -m billing.gateways.stripe_double --port 0``.
"""

from billing.gateways.stripe_double.config import DoubleConfig, LiveKeyRefused
from billing.gateways.stripe_double.server import StripeDouble

__all__ = ["DoubleConfig", "LiveKeyRefused", "StripeDouble"]
