"""The gallery of components: for staff with a second factor, in both languages."""

import pytest

from tests.functional.whole_market import address_of, make_whole_market

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("language", "heading"), [("en", "<h1>Components</h1>"), ("fr", "<h1>Composants</h1>")]
)
def test_shows_staff_every_component(language: str, heading: str) -> None:
    client = make_whole_market().browser_of("admin")

    page = client.get(address_of("gallery", language=language)).content.decode()

    assert heading in page
    assert page.count('<section class="card"') > 30
    assert 'name="robots" content="noindex"' in page


@pytest.mark.parametrize("person", ["nobody", "buyer", "staff"])
def test_is_not_there_for_anybody_else(person: str) -> None:
    client = make_whole_market().browser_of(person)

    assert client.get(address_of("gallery")).status_code == 404
