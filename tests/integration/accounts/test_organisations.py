"""Organisations: who acts for them, who joins, who leaves, and who is related to whom."""

import pytest
from django.urls import reverse

from marketplace.accounts.models import AuditEntry, Invitation, Mail, Membership, Organisation
from marketplace.accounts.operations.organisations import (
    AlreadyMember,
    LastOwner,
    TooManyInvitations,
    accept_invitation,
    create_organisation,
    invite_member,
    related_group_id,
    remove_member,
)
from marketplace.accounts.operations.people import create_personal_organisation
from tests.factories import T0, MembershipFactory, OrganisationFactory, UserFactory
from tests.personas import make_personas

pytestmark = pytest.mark.django_db
Role = Membership.Role


def invite(organisation, email, actor, role=Role.TRADER) -> Invitation:
    return invite_member(
        organisation_id=organisation.pk, email=email, role=role, actor_id=actor.pk, now=T0
    )


def test_a_person_owns_the_organisation_they_create():
    user = UserFactory.create()

    made = create_organisation(owner_id=user.pk, name="Acme", kind="company", now=T0)

    assert list(made.memberships.values_list("user_id", "role")) == [(user.pk, "owner")]
    assert AuditEntry.objects.get().action == "organisation.created"


def test_a_person_has_one_personal_organisation():
    user = UserFactory.create(name="", email="ada@example.com")

    made = create_personal_organisation(user=user, now=T0)

    assert (made.name, made.personal_of) == ("ada", user)


def test_an_invited_person_becomes_a_member_only_when_they_accept():
    people = make_personas()
    invitation = invite(people.buyer_organisation, "Stranger@example.com", people.buyer)
    assert not people.buyer_organisation.memberships.filter(user=people.stranger).exists()

    accept_invitation(invitation_id=invitation.pk, user=people.stranger, now=T0)

    assert people.buyer_organisation.memberships.get(user=people.stranger).role == Role.TRADER
    assert Invitation.objects.count() == 0
    actions = AuditEntry.objects.order_by("id").values_list("action", flat=True)
    assert list(actions) == ["member.invited", "member.joined"]


def test_an_invitation_writes_to_the_invited_in_their_language():
    people = make_personas()
    people.stranger.language = "fr"
    people.stranger.save()

    invite(people.buyer_organisation, people.stranger.email, people.buyer)

    mail = Mail.objects.get()
    assert mail.to_address == people.stranger.email
    assert '<html lang="fr">' in mail.body_html
    assert "/fr/compte/organisations/" in mail.body_text
    assert "«\u00a0Opérateur\u00a0»" in mail.body_text


def test_an_invitation_of_somebody_else_cannot_be_accepted():
    people = make_personas()
    invitation = invite(people.buyer_organisation, people.stranger.email, people.buyer)

    with pytest.raises(Invitation.DoesNotExist):
        accept_invitation(invitation_id=invitation.pk, user=people.seller, now=T0)

    assert Membership.objects.filter(user=people.seller).count() == 1


def test_a_member_or_an_invited_person_is_not_invited_again():
    people = make_personas()
    invite(people.buyer_organisation, "new@example.com", people.buyer)

    for address in ("NEW@example.com", people.colleague.email):
        with pytest.raises(AlreadyMember):
            invite(people.buyer_organisation, address, people.buyer)

    assert (Invitation.objects.count(), Mail.objects.count()) == (1, 1)


def test_open_invitations_are_bounded():
    people = make_personas()
    for number in range(20):
        invite(people.buyer_organisation, f"p{number}@example.com", people.buyer)

    with pytest.raises(TooManyInvitations):
        invite(people.buyer_organisation, "one-more@example.com", people.buyer)

    assert Mail.objects.count() == 20


def test_the_last_owner_stays():
    people = make_personas()
    mine = people.buyer_organisation.memberships.get(user=people.buyer)

    with pytest.raises(LastOwner):
        remove_member(
            membership_id=mine.pk,
            organisation_id=people.buyer_organisation.pk,
            actor_id=people.buyer.pk,
            now=T0,
        )

    assert Membership.objects.filter(pk=mine.pk).exists()


def test_a_group_is_everyone_connected_by_people_who_can_act():
    one, two, three, apart = OrganisationFactory.create_batch(4)
    ada, bea, cyd = UserFactory.create_batch(3)
    MembershipFactory.create(organisation=one, user=ada, role=Role.OWNER)
    MembershipFactory.create(organisation=two, user=ada, role=Role.BILLING)
    MembershipFactory.create(organisation=two, user=bea, role=Role.TRADER)
    MembershipFactory.create(organisation=three, user=bea, role=Role.OWNER)
    MembershipFactory.create(organisation=three, user=cyd, role=Role.VIEWER)
    MembershipFactory.create(organisation=apart, user=cyd, role=Role.OWNER)

    groups = [related_group_id(organisation_id=item.pk) for item in (one, two, three, apart)]

    assert groups == [one.pk, one.pk, one.pk, apart.pk]


def test_an_organisation_without_members_is_its_own_group():
    alone = OrganisationFactory.create()

    assert related_group_id(organisation_id=alone.pk) == alone.pk


def test_the_page_creates_a_company_and_acts_for_it(client):
    people = make_personas()
    client.force_login(people.stranger)

    client.post(reverse("accounts:organisations"), {"name": "Acme"})

    acme = Organisation.objects.get(name="Acme")
    assert acme.kind == Organisation.Kind.COMPANY
    assert client.get(reverse("accounts:organisations")).context["current_id"] == acme.pk


def test_an_empty_name_creates_nothing(client):
    people = make_personas()
    client.force_login(people.stranger)
    before = Organisation.objects.count()

    answer = client.post(reverse("accounts:organisations"), {"name": "  "})

    assert list(answer.context["form"].errors) == ["name"]
    assert Organisation.objects.count() == before


def test_a_person_switches_between_their_organisations_and_into_no_other(client):
    people = make_personas()
    other = create_organisation(owner_id=people.buyer.pk, name="B", kind="company", now=T0)
    client.force_login(people.buyer)
    page = reverse("accounts:organisations")
    assert client.get(page).context["current_id"] == people.buyer_organisation.pk

    client.post(reverse("accounts:switch", args=[other.pk]))
    assert client.get(page).context["current_id"] == other.pk

    refused = client.post(reverse("accounts:switch", args=[people.stranger_organisation.pk]))
    assert refused.status_code == 404
    assert client.get(page).context["current_id"] == other.pk


def test_a_person_who_is_removed_acts_for_their_own_organisation_again(client):
    people = make_personas()
    create_personal_organisation(user=people.colleague, now=T0)
    client.force_login(people.colleague)
    client.post(reverse("accounts:switch", args=[people.buyer_organisation.pk]))

    people.buyer_organisation.memberships.filter(user=people.colleague).delete()

    current = client.get(reverse("accounts:organisations")).context["current_id"]
    assert current == people.colleague.personal_organisation.pk


def test_an_owner_invites_withdraws_and_removes_on_the_page(client):
    people = make_personas()
    client.force_login(people.buyer)

    client.post(reverse("accounts:members"), {"email": "new@example.com", "role": "viewer"})
    invitation = Invitation.objects.get()
    assert (invitation.role, invitation.invited_by) == ("viewer", people.buyer)
    client.post(reverse("accounts:invitation_withdraw", args=[invitation.pk]))
    assert Invitation.objects.count() == 0
    trader = people.buyer_organisation.memberships.get(user=people.colleague)
    client.post(reverse("accounts:member_remove", args=[trader.pk]))
    assert not Membership.objects.filter(pk=trader.pk).exists()


def test_an_unknown_role_is_refused_at_the_field(client):
    people = make_personas()
    client.force_login(people.buyer)

    answer = client.post(reverse("accounts:members"), {"email": "a@example.com", "role": "king"})

    assert list(answer.context["form"].errors) == ["role"]
    assert (Invitation.objects.count(), Mail.objects.count()) == (0, 0)


def test_an_invited_person_accepts_or_declines_on_the_page(client):
    people = make_personas()
    accepted = invite(people.buyer_organisation, people.stranger.email, people.buyer)
    client.force_login(people.stranger)
    client.post(reverse("accounts:invitation_accept", args=[accepted.pk]))
    page = client.get(reverse("accounts:organisations"))
    assert page.context["current_id"] == people.buyer_organisation.pk

    client.force_login(people.seller)
    declined = invite(people.buyer_organisation, people.seller.email, people.buyer)
    client.post(reverse("accounts:invitation_decline", args=[declined.pk]))
    assert Invitation.objects.count() == 0
    assert not people.buyer_organisation.memberships.filter(user=people.seller).exists()


@pytest.mark.parametrize("who", ["colleague", "stranger", "seller"])
def test_only_owners_change_members(client, who):
    people = make_personas()
    target = people.buyer_organisation.memberships.get(user=people.buyer)
    MembershipFactory.create(
        organisation=people.buyer_organisation, user=UserFactory.create(), role=Role.OWNER
    )
    invitation = invite(people.buyer_organisation, "new@example.com", people.buyer)
    client.force_login(getattr(people, who))
    if who == "colleague":
        client.post(reverse("accounts:switch", args=[people.buyer_organisation.pk]))

    answers = [
        client.post(reverse("accounts:member_remove", args=[target.pk])).status_code,
        client.post(reverse("accounts:invitation_withdraw", args=[invitation.pk])).status_code,
        client.post(reverse("accounts:invitation_accept", args=[invitation.pk])).status_code,
        client.post(reverse("accounts:invitation_decline", args=[invitation.pk])).status_code,
    ]

    assert answers == [404, 404, 404, 404]
    assert Membership.objects.filter(pk=target.pk).exists()
    assert Invitation.objects.filter(pk=invitation.pk).exists()
