"""The tabs of the settings: the page that is shown is marked, and so is the one it lies under."""

import re

import pytest
from django.urls import reverse
from django.utils.translation import override

from tests.personas import make_personas

pytestmark = pytest.mark.django_db


def marked(html: str, label: str) -> list[tuple[str, str]]:
    """Return (value of aria-current, words) of what is marked in the row of this name."""
    row = re.search(rf'<nav[^>]*aria-label="{label}">(.*?)</nav>', html, re.DOTALL)
    return re.findall(r'aria-current="(\w+)">([^<]+)', row[1]) if row else []


@pytest.fixture
def owner(client):
    client.force_login(make_personas().buyer)
    return client


@pytest.mark.parametrize(
    ("name", "tabs", "security"),
    [
        ("accounts:profile", [("page", "Profile")], []),
        ("accounts:keys", [("page", "SSH keys")], []),
        ("account_change_password", [("page", "Security")], [("page", "Password")]),
        ("mfa_index", [("true", "Security")], [("page", "Second factor")]),
        ("accounts:devices", [("true", "Security")], [("page", "Signed-in devices")]),
        ("accounts:close", [("true", "Your data")], []),
    ],
)
def test_marks_the_page_and_what_it_lies_under(owner, name, tabs, security):
    html = owner.get(reverse(name)).content.decode()

    assert marked(html, "Settings") == tabs
    assert marked(html, "Security") == security


def test_speaks_french(owner):
    with override("fr"):
        address = reverse("accounts:profile")

    html = owner.get(address).content.decode()

    assert marked(html, "Réglages") == [("page", "Profil")]
