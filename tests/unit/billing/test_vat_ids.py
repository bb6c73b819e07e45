"""VAT numbers are read as people write them, and refused in another country's form."""

import pytest

from billing.vat_ids import VatIdMalformed, normalise_vat_id


@pytest.mark.parametrize(
    ("typed", "country", "expected"),
    [
        ("FR 40 303 265 045", "FR", "FR40303265045"),
        ("40303265045", "FR", "FR40303265045"),
        ("fr40.303.265.045", "FR", "FR40303265045"),
        ("DE 123456789", "DE", "DE123456789"),
        ("ATU12345678", "AT", "ATU12345678"),
        ("EL123456789", "GR", "EL123456789"),
        ("NL123456789B01", "NL", "NL123456789B01"),
        ("GB123456789", "GB", "GB123456789"),
        ("FR12345678901", "MC", "FR12345678901"),
    ],
)
def test_a_number_is_stored_with_its_prefix_and_without_spaces(typed, country, expected):
    assert normalise_vat_id(typed, country=country) == expected


@pytest.mark.parametrize(
    ("typed", "country"),
    [
        ("DE123456789", "FR"),
        ("FR123", "FR"),
        ("DE12345678", "DE"),
        ("DE١٢٣٤٥٦٧٨٩", "DE"),
        ("", "DE"),
        ("CHE123456789", "CH"),
        ("DE123456789; DROP", "DE"),
    ],
)
def test_a_number_that_nobody_issued_is_refused(typed, country):
    with pytest.raises(VatIdMalformed):
        normalise_vat_id(typed, country=country)
