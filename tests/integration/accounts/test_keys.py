"""SSH keys: what is accepted, what is refused and in which words."""

import asyncssh
import pytest
from django.urls import reverse

from marketplace.accounts.models import AuditEntry, SshKey
from marketplace.accounts.operations.keys import (
    KeyAlreadyAdded,
    NotAPublicKey,
    add_ssh_key,
    read_public_key,
)
from tests.factories import T0, UserFactory
from tests.personas import make_personas

ED25519 = asyncssh.generate_private_key("ssh-ed25519", comment="ada@laptop")
LINE = ED25519.export_public_key().decode().strip()


def make(kind, **options) -> str:
    return asyncssh.generate_private_key(kind, **options).export_public_key().decode().strip()


@pytest.mark.parametrize(
    "line",
    [LINE, make("ecdsa-sha2-nistp256"), make("ssh-rsa", key_size=2048)],
    ids=["ed25519", "ecdsa", "rsa"],
)
def test_a_usual_key_is_read_with_openssh_s_fingerprint(line):
    text, fingerprint = read_public_key(f"  {line}\n")

    assert text == line
    assert fingerprint == asyncssh.import_public_key(line).get_fingerprint()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (ED25519.export_private_key().decode(), "This is a private key: never paste it"),
        ("", "Paste a public key: one line"),
        (f"{LINE}\n{LINE}", "this text has several lines"),
        (f'command="rm -rf /" {LINE}', "Paste the key without options"),
        (LINE[:60], "This key is damaged"),
        ("ssh-ed25519", "This key is damaged"),
        ("ssh-ed25519 not*base64", "This key is damaged"),
        (make("ssh-rsa", key_size=1024), "This RSA key is too short"),
        ("hello", "This is not an OpenSSH public key"),
        ("ssh-dss AAAAB3NzaC1kc3MAAACBAP", "This is not an OpenSSH public key"),
        ("SHA256:9XIqu3NHkTpNgTJFxwKtc+1WHCLmkOkDSAqoFBTs/G4", "not an OpenSSH public key"),
        ("ssh-ed25519 " + "A" * 9000, "too long"),
        ("ssh-ed25519 AAAA\x00", "several lines"),
    ],
    ids=[
        "private",
        "empty",
        "two",
        "options",
        "cut",
        "bare",
        "noise",
        "short-rsa",
        "word",
        "dsa",
        "fingerprint",
        "long",
        "nul",
    ],
)
def test_what_is_no_key_is_refused_with_what_to_paste(text, words):
    with pytest.raises(NotAPublicKey) as refusal:
        read_public_key(text)

    assert words in str(refusal.value.message)


def test_a_key_of_another_type_than_its_name_is_refused():
    with pytest.raises(NotAPublicKey):
        read_public_key("ssh-rsa " + LINE.split()[1])


@pytest.mark.django_db
def test_the_same_key_is_kept_once_per_person_and_twice_by_two():
    one, two = UserFactory.create(), UserFactory.create()
    add_ssh_key(user_id=one.pk, name="a", public_key=LINE, now=T0)
    add_ssh_key(user_id=two.pk, name="a", public_key=LINE, now=T0)

    with pytest.raises(KeyAlreadyAdded):
        add_ssh_key(user_id=one.pk, name="b", public_key=LINE, now=T0)

    assert SshKey.objects.filter(user=one).count() == 1
    assert AuditEntry.objects.filter(action="ssh_key.added").count() == 2


@pytest.mark.django_db
def test_the_page_adds_a_key_and_removes_it(client):
    people = make_personas()
    client.force_login(people.buyer)

    client.post(reverse("accounts:keys"), {"name": "laptop", "public_key": LINE})
    key = SshKey.objects.get(user=people.buyer)
    assert (key.name, key.public_key) == ("laptop", LINE)
    client.post(reverse("accounts:key_remove", args=[key.pk]))

    assert SshKey.objects.count() == 0
    actions = AuditEntry.objects.order_by("id").values_list("action", flat=True)
    assert list(actions) == ["ssh_key.added", "ssh_key.removed"]


@pytest.mark.django_db
def test_the_page_refuses_a_private_key_at_the_field_and_keeps_nothing(client):
    people = make_personas()
    client.force_login(people.buyer)

    answer = client.post(
        reverse("accounts:keys"),
        {"name": "laptop", "public_key": ED25519.export_private_key().decode()},
    )

    assert answer.status_code == 200
    assert list(answer.context["form"].errors) == ["public_key"]
    assert answer.context["form"]["name"].value() == "laptop"
    assert "PRIVATE KEY" not in answer.content.decode()
    assert SshKey.objects.count() == 0


@pytest.mark.django_db
def test_the_page_names_a_key_that_is_there_already(client):
    people = make_personas()
    add_ssh_key(user_id=people.buyer.pk, name="a", public_key=LINE, now=T0)
    client.force_login(people.buyer)

    answer = client.post(reverse("accounts:keys"), {"name": "b", "public_key": LINE})

    assert answer.context["form"].errors == {"public_key": ["You have added this key already."]}


@pytest.mark.django_db
@pytest.mark.parametrize("who", ["colleague", "stranger", "admin"])
def test_nobody_elses_key_can_be_removed(client, who):
    people = make_personas()
    key = add_ssh_key(user_id=people.buyer.pk, name="a", public_key=LINE, now=T0)
    client.force_login(getattr(people, who))

    answer = client.post(reverse("accounts:key_remove", args=[key.pk]))

    assert answer.status_code == 404
    assert SshKey.objects.filter(pk=key.pk).exists()


@pytest.mark.django_db
def test_a_broken_byte_in_a_form_is_no_server_error(client):
    people = make_personas()
    client.force_login(people.buyer)

    answer = client.post(
        reverse("accounts:keys"),
        data=b"name=a%00b&public_key=%ff%fe",
        content_type="application/x-www-form-urlencoded",
    )

    assert answer.status_code == 400
    assert SshKey.objects.count() == 0
