"""The organisations a person acts for, and their members."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from marketplace.accounts.forms import InvitationForm, OrganisationForm
from marketplace.accounts.http import SignedInRequest, client_now, form_page, owning, signed_in
from marketplace.accounts.models import Invitation, Membership, Organisation
from marketplace.accounts.operations.organisations import (
    AlreadyMember,
    LastOwner,
    TooManyInvitations,
    accept_invitation,
    create_organisation,
    decline_invitation,
    invite_member,
    remove_member,
    withdraw_invitation,
)
from marketplace.accounts.queries import (
    invitations_of,
    invitations_to,
    members_of,
    memberships_of,
)
from marketplace.accounts.rate_limits import Limit, count_act
from marketplace.accounts.viewer import ORGANISATION_KEY


@form_page
@signed_in
def organisations(request: SignedInRequest) -> HttpResponse:
    """List the viewer's organisations and invitations, and create a company."""
    form = OrganisationForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        created = create_organisation(
            owner_id=request.user.pk,
            name=form.cleaned_data["name"],
            kind=Organisation.Kind.COMPANY,
            now=client_now(),
        )
        request.session[ORGANISATION_KEY] = created.pk
        messages.success(
            request, _("You now act for %(organisation)s.") % {"organisation": created.name}
        )
        return redirect("accounts:organisations")
    context = {
        "form": form,
        "memberships": memberships_of(user_id=request.user.pk),
        "invitations": invitations_to(user=request.user),
        "current_id": request.organisation.pk,
    }
    return render(request, "accounts/organisations.html", context)


@require_POST
@signed_in
def switch(request: SignedInRequest, pk: int) -> HttpResponse:
    """Act for another organisation of the viewer's from now on."""
    chosen = Membership.objects.filter(user_id=request.user.pk, organisation_id=pk)
    membership = chosen.select_related("organisation").first()
    if membership is None:
        raise Http404
    request.session[ORGANISATION_KEY] = pk
    messages.success(
        request,
        _("You now act for %(organisation)s.") % {"organisation": membership.organisation.name},
    )
    return redirect("accounts:organisations")


@form_page
@owning
def members(request: SignedInRequest) -> HttpResponse:
    """List the members of the organisation the viewer acts for, and invite one."""
    form = InvitationForm(request.POST or None)
    if request.method == "POST" and form.is_valid() and _invited(form, request):
        messages.success(
            request,
            _("%(email)s is invited. They become a member when they accept.")
            % {"email": form.cleaned_data["email"]},
        )
        return redirect("accounts:members")
    context = {
        "form": form,
        "members": members_of(organisation_id=request.organisation.pk),
        "invitations": invitations_of(organisation_id=request.organisation.pk),
    }
    return render(request, "accounts/members.html", context)


@require_POST
@owning
def end_membership(request: SignedInRequest, pk: int) -> HttpResponse:
    """End the membership of a member of the viewer's organisation."""
    try:
        remove_member(
            membership_id=pk,
            organisation_id=request.organisation.pk,
            actor_id=request.user.pk,
            now=client_now(),
        )
    except Membership.DoesNotExist as error:
        raise Http404 from error
    except LastOwner:
        messages.error(request, _("The last owner cannot leave. Invite another owner first."))
    else:
        messages.success(request, _("The membership has ended."))
    return redirect("accounts:organisations" if request.membership.pk == pk else "accounts:members")


@require_POST
@owning
def withdraw(request: SignedInRequest, pk: int) -> HttpResponse:
    """Take back an invitation of the viewer's organisation."""
    try:
        withdraw_invitation(
            invitation_id=pk,
            organisation_id=request.organisation.pk,
            actor_id=request.user.pk,
            now=client_now(),
        )
    except Invitation.DoesNotExist as error:
        raise Http404 from error
    messages.success(request, _("The invitation is withdrawn."))
    return redirect("accounts:members")


@require_POST
@signed_in
def accept(request: SignedInRequest, pk: int) -> HttpResponse:
    """Become a member, as an invitation to the viewer says."""
    try:
        membership = accept_invitation(invitation_id=pk, user=request.user, now=client_now())
    except Invitation.DoesNotExist as error:
        raise Http404 from error
    request.session[ORGANISATION_KEY] = membership.organisation_id
    messages.success(
        request,
        _("You now act for %(organisation)s.") % {"organisation": membership.organisation.name},
    )
    return redirect("accounts:organisations")


@require_POST
@signed_in
def decline(request: SignedInRequest, pk: int) -> HttpResponse:
    """Refuse an invitation to the viewer."""
    try:
        decline_invitation(invitation_id=pk, user=request.user, now=client_now())
    except Invitation.DoesNotExist as error:
        raise Http404 from error
    messages.success(request, _("The invitation is declined."))
    return redirect("accounts:organisations")


def _invited(form: InvitationForm, request: SignedInRequest) -> bool:
    count_act(limit=Limit.INVITATION, who=request.organisation.pk)
    try:
        invite_member(
            organisation_id=request.organisation.pk,
            email=form.cleaned_data["email"],
            role=form.cleaned_data["role"],
            actor_id=request.user.pk,
            now=client_now(),
        )
    except AlreadyMember:
        form.add_error("email", _("This address belongs to a member or is invited already."))
    except TooManyInvitations:
        form.add_error(None, _("20 invitations are open. Withdraw one first."))
    return form.is_valid()
