"""Forms of people: sign-up, profile, keys, organisations."""

import zoneinfo
from collections.abc import Mapping
from datetime import date
from typing import Any

from allauth.account import forms as allauth_forms
from allauth.mfa.webauthn import forms as webauthn_forms
from django import forms
from django.core.validators import MaxLengthValidator
from django.urls import reverse
from django.utils.functional import lazy
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrOrPromise

from marketplace.accounts.models import (
    ALWAYS_SENT,
    ApiToken,
    ContactMessage,
    Invitation,
    LegalKey,
    MailKind,
    Membership,
    NotificationSettings,
    Organisation,
    Scope,
    SshKey,
    User,
)
from marketplace.accounts.models.notifications import (
    LOW_BALANCE_HOURS_MAX,
    LOW_BALANCE_MINOR_MAX,
)
from marketplace.accounts.models.users import EMAIL_LENGTH
from marketplace.accounts.operations.keys import (
    KEY_LENGTH_MAX,
    NotAPublicKey,
    PrivateKeyPasted,
    is_private_key,
    read_public_key,
)

PASSWORD_HELP = _("At least 10 characters. A few unrelated words make a strong password.")
# How deprecated and machine zones begin: people live in the others.
OTHER_ZONES = ("Etc/", "SystemV/", "US/", "Canada/", "Brazil/", "Chile/", "Mexico/")


def _both_texts() -> SafeString:
    """Return links to what is consented to."""
    return format_html(
        str(_("Read them: {terms}, {sale}.")),
        terms=_link(reverse("accounts:legal", kwargs={"key": LegalKey.TERMS}), _("terms of use")),
        sale=_link(reverse("accounts:legal", kwargs={"key": LegalKey.SALE}), _("terms of sale")),
    )


def _link(address: str, words: StrOrPromise) -> SafeString:
    return format_html('<a href="{}">{}</a>', address, words)


CONSENT = _("I accept the terms of use and the terms of sale")
CONSENT_TEXTS = lazy(_both_texts, SafeString)()
CONSENT_MISSING = _("Tick the box to go on: without your consent there is no contract.")


class SignupForm(allauth_forms.SignupForm):
    """E-mail, password and consent; everything else is asked when it is needed."""

    accepts_terms = forms.BooleanField(
        label=CONSENT, help_text=CONSENT_TEXTS, error_messages={"required": CONSENT_MISSING}
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _take_an_address(self)
        self.fields["password1"].help_text = PASSWORD_HELP
        drop_placeholders(self)


class LoginForm(allauth_forms.LoginForm):
    """E-mail and password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].label = _("E-mail address")
        drop_placeholders(self)


class ForgottenPasswordForm(allauth_forms.ResetPasswordForm):
    """The address that the code goes to."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _take_an_address(self)
        drop_placeholders(self)


class NewAddressForm(allauth_forms.AddEmailForm):
    """The address that is to replace the present one."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _take_an_address(self)
        drop_placeholders(self)


class ConfirmForm(allauth_forms.ReauthenticateForm):
    """The password, asked again."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        drop_placeholders(self)


class ChangePasswordForm(allauth_forms.ChangePasswordForm):
    """The current password, and the new one twice."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password1"].help_text = PASSWORD_HELP
        drop_placeholders(self)


class ResetPasswordForm(allauth_forms.ResetPasswordKeyForm):
    """The new password, twice."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password1"].help_text = PASSWORD_HELP
        drop_placeholders(self)


class AddPasskeyForm(webauthn_forms.AddWebAuthnForm):
    """The name of a passkey, and whether it signs in alone."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].label = _("Name of the key")
        self.fields["passwordless"].label = _("Sign in with this key alone, without a password")
        self.fields["passwordless"].help_text = _(
            "The key must then ask for a fingerprint, a face or a PIN."
        )


def _take_an_address(form: forms.Form) -> None:
    """Name the field of the address, and refuse one that allauth would cut to fit its column."""
    field = form.fields["email"]
    field.label = _("E-mail address")
    field.validators.append(MaxLengthValidator(EMAIL_LENGTH))


def drop_placeholders(form: forms.Form) -> None:
    """Leave out words inside fields: they repeat the label and vanish when one types."""
    for field in form.fields.values():
        field.widget.attrs.pop("placeholder", None)


def zone_names() -> list[str]:
    """Return the names of the zones people live in, UTC first."""
    names = zoneinfo.available_timezones()
    places = (name for name in names if "/" in name and not name.startswith(OTHER_ZONES))
    return ["UTC", *sorted(places)]


class ProfileForm(forms.ModelForm[User]):
    """What a person says about themselves."""

    time_zone = forms.ChoiceField(
        label=_("Time zone"), help_text=_("Every time on the site is shown in this zone.")
    )

    class Meta:
        model = User
        fields = ["name", "language", "time_zone"]
        help_texts = {"language": _("Pages and e-mails are written in this language.")}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].widget.attrs["autocomplete"] = "name"
        zones = self.fields["time_zone"]
        assert isinstance(zones, forms.ChoiceField)
        zones.choices = [(name, name.replace("_", " ")) for name in zone_names()]


class KeyField(forms.CharField):
    """A public key or its fingerprint. A private key pasted by mistake is never sent back."""

    def to_python(self, value: Any) -> str:
        text = super().to_python(value) or ""
        if is_private_key(text):
            raise forms.ValidationError(PrivateKeyPasted.MESSAGE, code="private")
        return text

    def bound_data(self, data: Any, initial: Any) -> Any:
        return "" if is_private_key(str(data)) else super().bound_data(data, initial)


class SshKeyForm(forms.ModelForm[SshKey]):
    """A public key and the name its owner knows it by."""

    # Larger than any key, so that the reader is told what is wrong and not only that it is long.
    public_key = KeyField(
        label=_("Public key"),
        max_length=2 * KEY_LENGTH_MAX,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false", "autocomplete": "off"}),
        help_text=_(
            "One line from the file that ends in .pub, such as ~/.ssh/id_ed25519.pub."
            " It starts with ssh-ed25519, ecdsa-sha2-nistp256 or ssh-rsa."
        ),
    )

    class Meta:
        model = SshKey
        fields = ["name", "public_key"]
        help_texts = {"name": _("For you, such as “work laptop”.")}

    def clean_public_key(self) -> str:
        text: str = self.cleaned_data["public_key"]
        try:
            read_public_key(text)
        except NotAPublicKey as error:
            raise forms.ValidationError(error.message) from error
        return text


class OrganisationForm(forms.ModelForm[Organisation]):
    """A company that buys or sells."""

    class Meta:
        model = Organisation
        fields = ["name"]
        labels = {"name": _("Name of the company")}


class InvitationForm(forms.ModelForm[Invitation]):
    """Who is asked to join, and as what."""

    class Meta:
        model = Invitation
        fields = ["email", "role"]
        help_texts = {
            "role": _(
                "Owners do everything. Traders order and stop rentals. Billing members top up"
                " and read statements. Viewers only read."
            ),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        roles = self.fields["role"]
        assert isinstance(roles, forms.TypedChoiceField)
        roles.choices = Membership.Role.choices
        roles.initial = Membership.Role.TRADER


class TokenForm(forms.ModelForm[ApiToken]):
    """What a token is for, what it may do and until when."""

    scopes = forms.MultipleChoiceField(
        label=_("What it may do"),
        choices=Scope.choices,
        initial=[Scope.READ.value],
        widget=forms.CheckboxSelectMultiple,
    )
    days = forms.ChoiceField(
        label=_("Valid for"),
        choices=[
            ("30", _("30 days")),
            ("90", _("90 days")),
            ("365", _("One year")),
            ("0", _("Until it is revoked")),
        ],
        initial="90",
        help_text=_("A token that ends by itself does less harm when it is forgotten."),
    )

    class Meta:
        model = ApiToken
        fields = ["name"]
        help_texts = {"name": _("For you, such as “nightly training job”.")}

    def __init__(self, *args: Any, may_trade: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        scopes = self.fields["scopes"]
        assert isinstance(scopes, forms.MultipleChoiceField)
        if not may_trade:
            scopes.choices = [(Scope.READ.value, Scope.READ.label)]
            scopes.help_text = _("Your role in this organisation only reads.")


class NotificationsForm(forms.Form):
    """Mails that may be switched off, and from when a balance is low."""

    low_balance_hours = forms.IntegerField(
        label=_("Warn when a wallet pays for less than"),
        min_value=1,
        max_value=LOW_BALANCE_HOURS_MAX,
        help_text=_("Counted with what your running rentals cost now."),
    )
    low_balance_units = forms.IntegerField(
        label=_("Warn also below the amount of"),
        min_value=0,
        max_value=LOW_BALANCE_MINOR_MAX // 100,
        help_text=_("A whole amount in each wallet’s own currency. 0: hours alone count."),
    )

    def __init__(self, *args: Any, chosen: NotificationSettings, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for kind, label in MailKind.choices:
            if kind not in ALWAYS_SENT:
                self.fields[kind] = forms.BooleanField(
                    label=label, required=False, initial=kind not in chosen.switched_off
                )
        self.fields["low_balance_hours"].initial = chosen.low_balance_hours
        self.fields["low_balance_units"].initial = chosen.low_balance_minor // 100

    @property
    def choices(self) -> list[forms.BoundField]:
        """The switches of the mails, in their order."""
        return [self[kind] for kind in MailKind.values if kind in self.fields]

    @property
    def switched_off(self) -> list[str]:
        kinds = (kind for kind in MailKind.values if kind in self.fields)
        return [kind for kind in kinds if not self.cleaned_data[kind]]

    @property
    def low_balance_minor(self) -> int:
        return int(self.cleaned_data["low_balance_units"]) * 100


class AcceptTermsForm(forms.Form):
    """Consent to the versions that the page showed."""

    accepts_terms = forms.BooleanField(
        label=CONSENT, help_text=CONSENT_TEXTS, error_messages={"required": CONSENT_MISSING}
    )

    def __init__(self, *args: Any, asked: Mapping[str, date], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for key, version in asked.items():
            # Posted back, so that nobody accepts what came into force after they read.
            self.fields[key] = forms.DateField(initial=version, widget=forms.HiddenInput)

    @property
    def shown(self) -> dict[str, date]:
        """The versions that the person saw, by their text."""
        return {key: self.cleaned_data[key] for key in LegalKey.values if key in self.fields}


class ContactForm(forms.ModelForm[ContactMessage]):
    """What somebody writes to us. A report of abuse names what it is about."""

    # People do not see it; robots fill in whatever they find.
    website = forms.CharField(
        required=False, widget=forms.TextInput(attrs={"tabindex": "-1", "autocomplete": "off"})
    )

    class Meta:
        model = ContactMessage
        fields = ["topic", "name", "email", "message", "abuse_address", "evidence"]
        labels = {
            "topic": _("What is it about?"),
            "name": _("Your name"),
            "email": _("E-mail address for the answer"),
            "message": _("Your message"),
            "abuse_address": _("Address the abuse comes from, or page it is on"),
            "evidence": _("What you saw, and when"),
        }
        help_texts = {
            "message": _("Name the order or the rental when there is one. Never send passwords."),
            "abuse_address": _("For reports of abuse: an internet address, a domain or a link."),
            "evidence": _("For reports of abuse: lines of a log with their times and zone."),
        }
        widgets = {
            "message": forms.Textarea(attrs={"rows": 6}),
            "evidence": forms.Textarea(attrs={"rows": 4}),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].widget.attrs["autocomplete"] = "name"
        self.fields["email"].widget.attrs["autocomplete"] = "email"

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        is_report = data.get("topic") == ContactMessage.Topic.ABUSE
        if is_report and not data.get("abuse_address") and "abuse_address" not in self.errors:
            self.add_error("abuse_address", _("Say what address the report is about."))
        return data

    @property
    def is_from_a_robot(self) -> bool:
        return bool(self.cleaned_data["website"])


class ClosureForm(forms.Form):
    """The typed address: nobody closes an account by a slip."""

    address = forms.CharField(
        label=_("Type your e-mail address to confirm"),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )

    def __init__(self, *args: Any, address: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.expected = address

    def clean_address(self) -> str:
        typed: str = self.cleaned_data["address"].strip()
        if typed.lower() != self.expected.lower():
            raise forms.ValidationError(_("This is not the address of your account."))
        return typed
