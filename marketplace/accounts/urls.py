"""Addresses of accounts: allauth's views under our translated paths, and our own."""

from allauth.account import views as account
from allauth.mfa.base import views as mfa
from allauth.mfa.recovery_codes import views as recovery_codes
from allauth.mfa.totp import views as totp
from allauth.mfa.webauthn import views as webauthn
from django.urls import URLPattern, URLResolver, include, path
from django.utils.translation import gettext_lazy as _

from marketplace.accounts.views import (
    contact,
    data,
    devices,
    keys,
    legal,
    notifications,
    organisations,
    outbox,
    profile,
    sign_up,
    tokens,
    unsubscribe,
)

# allauth reverses these names itself: they must stay as they are.
entrance = [
    path(_("sign-up/"), sign_up.sign_up, name="account_signup"),
    path(_("sign-in/"), account.login, name="account_login"),
    path(_("sign-out/"), account.logout, name="account_logout"),
    path(_("inactive/"), account.account_inactive, name="account_inactive"),
    path(_("confirm/"), account.reauthenticate, name="account_reauthenticate"),
    path(_("e-mail/"), account.email, name="account_email"),
    path(
        _("e-mail/confirm/"),
        account.email_verification_sent,
        name="account_email_verification_sent",
    ),
    path(_("password/"), account.password_change, name="account_change_password"),
    path(_("password/set/"), account.password_set, name="account_set_password"),
    path(_("password/forgotten/"), account.password_reset, name="account_reset_password"),
    path(
        _("password/forgotten/code/"),
        account.confirm_password_reset_code,
        name="account_confirm_password_reset_code",
    ),
    path(
        _("password/forgotten/new/"),
        account.complete_password_reset,
        name="account_complete_password_reset",
    ),
    path(
        _("password/forgotten/done/"),
        account.password_reset_from_key_done,
        name="account_password_reset_completed",
    ),
]
second_factor = [
    path("", mfa.index, name="mfa_index"),
    path(_("sign-in/"), mfa.authenticate, name="mfa_authenticate"),
    path(_("confirm/"), mfa.reauthenticate, name="mfa_reauthenticate"),
    path(_("app/add/"), totp.activate_totp, name="mfa_activate_totp"),
    path(_("app/remove/"), totp.deactivate_totp, name="mfa_deactivate_totp"),
    path(_("recovery-codes/"), recovery_codes.view_recovery_codes, name="mfa_view_recovery_codes"),
    path(
        _("recovery-codes/new/"),
        recovery_codes.generate_recovery_codes,
        name="mfa_generate_recovery_codes",
    ),
    path(
        _("recovery-codes/file/"),
        recovery_codes.download_recovery_codes,
        name="mfa_download_recovery_codes",
    ),
    path(_("keys/"), webauthn.list_webauthn, name="mfa_list_webauthn"),
    path(_("keys/add/"), webauthn.add_webauthn, name="mfa_add_webauthn"),
    path(_("keys/sign-in/"), webauthn.login_webauthn, name="mfa_login_webauthn"),
    path(_("keys/confirm/"), webauthn.reauthenticate_webauthn, name="mfa_reauthenticate_webauthn"),
    path(_("keys/<int:pk>/remove/"), webauthn.remove_webauthn, name="mfa_remove_webauthn"),
    path(_("keys/<int:pk>/"), webauthn.edit_webauthn, name="mfa_edit_webauthn"),
]
own = [
    path(_("profile/"), profile.profile, name="profile"),
    path(_("ssh-keys/"), keys.keys, name="keys"),
    path(_("ssh-keys/<int:pk>/remove/"), keys.remove_key, name="key_remove"),
    path(_("devices/"), devices.devices, name="devices"),
    path(_("devices/<int:pk>/end/"), devices.end, name="device_end"),
    path(_("devices/end-others/"), devices.end_others, name="devices_end_others"),
    path(_("tokens/"), tokens.tokens, name="tokens"),
    path(_("tokens/<int:pk>/revoke/"), tokens.revoke, name="token_revoke"),
    path(_("notifications/"), notifications.notifications, name="notifications"),
    path(_("organisations/"), organisations.organisations, name="organisations"),
    path(_("organisations/<int:pk>/switch/"), organisations.switch, name="switch"),
    path(_("members/"), organisations.members, name="members"),
    path(_("members/<int:pk>/remove/"), organisations.end_membership, name="member_remove"),
    path(_("invitations/<int:pk>/accept/"), organisations.accept, name="invitation_accept"),
    path(_("invitations/<int:pk>/decline/"), organisations.decline, name="invitation_decline"),
    path(_("invitations/<int:pk>/withdraw/"), organisations.withdraw, name="invitation_withdraw"),
    path(_("data/"), data.export, name="export"),
    path(_("close/"), data.close, name="close"),
    path(_("terms/"), legal.accept, name="accept_terms"),
    path(_("outbox/"), outbox.outbox, name="outbox"),
    path(_("outbox/<int:pk>/"), outbox.outbox_mail, name="outbox_mail"),
    path(_("unsubscribe/<str:token>/"), unsubscribe.unsubscribe, name="unsubscribe"),
]
# Pages that everybody reads, outside the account.
everybodys = [
    path(_("legal/terms/"), legal.legal, {"key": "terms"}, name="legal"),
    path(_("legal/sale/"), legal.legal, {"key": "sale"}, name="legal"),
    path(_("legal/sellers/"), legal.legal, {"key": "sellers"}, name="legal"),
    path(_("legal/privacy/"), legal.legal, {"key": "privacy"}, name="legal"),
    path(_("legal/notice/"), legal.legal, {"key": "notice"}, name="legal"),
    path(_("contact/"), contact.contact, name="contact"),
    path(_("contact/sent/"), contact.sent, name="contact_sent"),
]
urlpatterns: list[URLPattern | URLResolver] = [
    path(_("account/"), include(entrance)),
    path(_("account/second-factor/"), include(second_factor)),
    path("", include(([path(_("account/"), include(own)), *everybodys], "accounts"))),
]
