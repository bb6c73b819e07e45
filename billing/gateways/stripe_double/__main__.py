"""Run the double on its own: ``python -m billing.gateways.stripe_double --port 0``."""

import argparse
import signal
import sys
from pathlib import Path

from billing.gateways.stripe_double import DoubleConfig, LiveKeyRefused, StripeDouble
from billing.gateways.stripe_double.config import DEFAULT_API_KEY, DEFAULT_WEBHOOK_SECRET

EXIT_USAGE = 2


def main(arguments: list[str] | None = None) -> int:
    """Start, print the address on one line, answer until stopped."""
    options = _parser().parse_args(arguments)
    try:
        config = DoubleConfig(
            host=options.host,
            port=options.port,
            api_key=options.api_key,
            webhook_url=options.webhook_url,
            webhook_secret=options.webhook_secret,
            state_file=options.state,
        )
    except LiveKeyRefused:
        sys.stderr.write("A live key was given. This double takes test keys only.\n")
        return EXIT_USAGE
    try:
        double = StripeDouble(config)
    except OSError as taken:
        sys.stderr.write(f"Cannot listen on {config.host}:{config.port}: {taken.strerror}.\n")
        return 1
    _run(double)
    return 0


def _run(double: StripeDouble) -> None:
    signal.signal(signal.SIGTERM, _interrupt)
    double.start()
    sys.stdout.write(f"{double.url}\n")
    sys.stdout.flush()
    try:
        double.wait()
    except KeyboardInterrupt:
        double.stop()


def _interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m billing.gateways.stripe_double",
        description="A Stripe double for demo and tests. It moves no money.",
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, default=0, help="port; 0 takes a free one")
    parser.add_argument("--api-key", default=DEFAULT_API_KEY, help="the test key it accepts")
    parser.add_argument("--webhook-url", help="where webhooks go; none are sent without it")
    parser.add_argument(
        "--webhook-secret", default=DEFAULT_WEBHOOK_SECRET, help="what webhooks are signed with"
    )
    parser.add_argument("--state", type=Path, help="file that keeps everything over a restart")
    return parser


if __name__ == "__main__":
    sys.exit(main())
