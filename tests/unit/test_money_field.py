"""What people type as money, in both languages, and what must never be misread."""

from decimal import Decimal

import pytest
from django.core.exceptions import ValidationError
from django.utils import translation
from hypothesis import given
from hypothesis import strategies as st

from billing.fields import MoneyField, PriceField
from billing.money import PRICE_MAX_MICRO, PRICE_MIN_MICRO, TICK_MICRO, Currency
from config.templatetags import formats

LANGUAGES = ["fr", "en"]
languages = pytest.mark.parametrize("language", LANGUAGES)
currencies = st.sampled_from(list(Currency))


def refusal(field: MoneyField, text: str) -> ValidationError:
    with pytest.raises(ValidationError) as caught:
        field.clean(text)
    return caught.value


@languages
@pytest.mark.parametrize(
    ("typed", "minor"),
    [
        ("2,80", 280),
        ("2.80", 280),
        ("2,8", 280),
        ("28", 2800),
        ("0", 0),
        (".5", 50),
        ("5,", 500),
        ("1\u202f234,50", 123450),
        ("1\u00a0234,50", 123450),
        ("1 234.5", 123450),
        ("1234,500", 123450),
        ("1.234,50", 123450),
        ("1,234.50", 123450),
        ("1,234,567.8", 123456780),
        ("0,335000", None),
        ("12,50 €", 1250),
        ("$12.50", 1250),
        ("12,50\u00a0$US", 1250),
        ("US$12.50", 1250),
        ("12,50 £GB", 1250),
        ("12.50 eur", 1250),
    ],
)
def test_reads_the_same_text_the_same_way_in_both_languages(
    language: str, typed: str, minor: int | None
) -> None:
    field = MoneyField(min_units=0)

    with translation.override(language):
        if minor is None:
            assert refusal(field, typed).code == "too_precise"
        else:
            assert field.clean(typed) == minor


@languages
def test_a_comma_amount_never_becomes_a_hundred_times_as_much(language: str) -> None:
    with translation.override(language):
        assert PriceField().clean("2,80") == 2_800_000


@pytest.mark.parametrize("typed", ["1.234", "1,234", "50.000", "6,500", "1.234 €"])
def test_one_separator_before_three_digits_is_refused_as_ambiguous(typed: str) -> None:
    assert refusal(MoneyField(max_units=500_000), typed).code == "ambiguous"


def test_an_ambiguous_amount_names_both_readings() -> None:
    with translation.override("en"):
        assert refusal(MoneyField(), "1.234").messages == [
            (
                "“1.234” can mean 1.234 or 1234.00. "
                "Write two decimals, or no separator between thousands."
            )
        ]


def test_a_price_with_three_decimals_is_read_as_a_price() -> None:
    assert PriceField().clean("2,885") == 2_885_000
    assert PriceField().clean("2.885") == 2_885_000


def test_a_price_without_an_upper_bound_stays_ambiguous() -> None:
    assert refusal(PriceField(max_units=None), "2.885").code == "ambiguous"


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        ("0", "too_small"),
        ("-5", "too_small"),
        ("\u22125,00", "too_small"),
        ("5000,01", "too_large"),
        ("1,239999", "too_precise"),
        ("12.345678", "too_precise"),
        ("", "required"),
        ("   ", "required"),
    ],
)
def test_refuses_what_no_balance_can_be(typed: str, code: str) -> None:
    assert refusal(MoneyField(max_units=500_000), typed).code == code


@pytest.mark.parametrize(
    "typed",
    ["abc", "1e3", "NaN", "inf", "1.2.3", "1,2,3", "12,34.5", "1.234.56", "--5", "5 %", "²", "١٢",
     "1" * 19, "9" * 500, "\x00", "1_000", "0x10", ".", ",", "€", "1,234,56"],
)  # fmt: skip
def test_refuses_what_is_no_amount(typed: str) -> None:
    assert refusal(MoneyField(), typed).code == "invalid"


def test_refuses_a_price_between_two_ticks() -> None:
    with translation.override("en"):
        assert refusal(PriceField(), "0.3305").messages == [
            "Use at most 3 decimals: the smallest step is 0.001."
        ]


def test_refuses_a_price_outside_the_market() -> None:
    with translation.override("fr"):
        assert refusal(PriceField(), "0,009").params == {"limit": "0,01"}
        assert refusal(PriceField(), "100,001").params == {"limit": "100,00"}


def test_refuses_the_mark_of_another_currency() -> None:
    error = refusal(MoneyField(currency=Currency.EUR), "$12")

    assert error.code == "wrong_currency"
    assert error.params == {"expected": "EUR", "found": "USD"}


def test_an_optional_amount_may_be_left_out() -> None:
    assert MoneyField(required=False).clean("") is None


def test_shows_the_amount_again_as_the_reader_would_type_it() -> None:
    with translation.override("fr"):
        assert MoneyField().prepare_value(123450) == "1234,50"
        assert PriceField().prepare_value(2_885_000) == "2,885"
        assert MoneyField().prepare_value("1.234") == "1.234"


@languages
@given(minor=st.integers(1, 10**14), currency=currencies)
def test_reads_back_every_amount_that_the_pages_show(
    language: str, minor: int, currency: Currency
) -> None:
    with translation.override(language):
        assert MoneyField(currency=currency).clean(formats.money(minor, currency)) == minor


@languages
@given(
    price_micro=st.integers(PRICE_MIN_MICRO // TICK_MICRO, PRICE_MAX_MICRO // TICK_MICRO).map(
        lambda ticks: ticks * TICK_MICRO
    ),
    currency=currencies,
)
def test_reads_back_every_price_that_the_pages_show(
    language: str, price_micro: int, currency: Currency
) -> None:
    with translation.override(language):
        shown = formats.unit_price(price_micro, currency)

        assert PriceField(currency=currency).clean(shown) == price_micro


@languages
@given(minor=st.integers(1, 10**14))
def test_reads_back_what_it_shows_in_a_form(language: str, minor: int) -> None:
    field = MoneyField()

    with translation.override(language):
        assert field.clean(field.prepare_value(minor)) == minor


@given(text=st.text(max_size=60))
def test_any_text_is_an_exact_amount_or_a_refusal(text: str) -> None:
    field = MoneyField(max_units=500_000)

    try:
        minor = field.clean(text)
    except ValidationError:
        return

    assert isinstance(minor, int)
    assert 1 <= minor <= 500_000


@given(whole=st.integers(0, 10**9), cents=st.integers(0, 99), separator=st.sampled_from(",."))
def test_two_decimals_are_never_thousands(whole: int, cents: int, separator: str) -> None:
    amount = Decimal(whole * 100 + cents)

    assert MoneyField(min_units=0).clean(f"{whole}{separator}{cents:02}") == amount


@languages
@given(whole=st.integers(1, 999), rest=st.integers(0, 999), separator=st.sampled_from([",", "."]))
def test_three_digits_after_one_separator_are_refused_with_both_readings(
    language: str, whole: int, rest: int, separator: str
) -> None:
    with translation.override(language):
        error = refusal(MoneyField(), f"{whole}{separator}{rest:03}")

    assert error.code == "ambiguous"
    assert error.params is not None
    readings = [str(error.params[name]).replace(",", ".") for name in ("first", "second")]
    assert [Decimal(reading) for reading in readings] == [
        Decimal(f"{whole}.{rest:03}"),
        Decimal(whole * 1_000 + rest),
    ]


@languages
def test_an_amount_between_two_ticks_is_refused_naming_the_tick(language: str) -> None:
    with translation.override(language):
        message = refusal(PriceField(), "2,8851").messages[0]

    assert {"fr": "0,001", "en": "0.001"}[language] in message
