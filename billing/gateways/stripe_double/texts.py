"""The hosted page's words, in the languages of the site.

The double runs without Django, so that its words cannot live in the site's message catalogue.
"""

from typing import Final

Texts = dict[str, str]

_NARROW: Final = "\u202f"
_WIDE: Final = "\u00a0"

ENGLISH: Final[Texts] = {
    "lang": "en",
    "banner": "Test payment page. No card is charged and no money moves.",
    "title": "Payment",
    "pay_heading": "Pay {amount}",
    "summary_label": "What you are paying for",
    "email": "E-mail",
    "card_number": "Card number",
    "expiry": "Expiry date",
    "expiry_hint": "Month and year, as MM/YY",
    "cvc": "Security code",
    "cvc_hint": "Three digits on the back of the card",
    "name": "Name on the card",
    "pay": "Pay {amount}",
    "cancel": "Cancel and go back",
    "cards_heading": "Test cards",
    "cards_hint": "Any future date and any three digits go with them.",
    "card_column": "Number",
    "fate_column": "What happens",
    "fate_success": "The payment succeeds",
    "fate_decline": "The bank declines",
    "fate_funds": "Declined: insufficient funds",
    "fate_authentication": "The bank asks for authentication",
    "error_heading": "The payment was not made",
    "email_wrong": "Enter an e-mail address, such as name@example.com.",
    "card_number_wrong": "This card number is not valid. Check its digits.",
    "expiry_wrong": "Enter a month and a year, such as 04/31.",
    "expiry_past": "This card has expired.",
    "cvc_wrong": "Enter the three or four digits of the security code.",
    "name_wrong": "Enter the name written on the card.",
    "generic_decline": "Your card was declined. Try another card.",
    "insufficient_funds": "Your card has insufficient funds. Try another card.",
    "live_mode_test_card": "Only test cards work on this page. Your card was not charged.",
    "authentication_failed": "Your bank could not authenticate you. Try again or use another card.",
    "bank_heading": "Your bank asks who you are",
    "bank_text": "A payment of {amount} waits for your confirmation.",
    "authenticate": "Complete authentication",
    "fail": "Fail authentication",
    "paid_heading": "This payment is complete",
    "paid_text": "There is nothing more to pay here.",
    "expired_heading": "This payment page has expired",
    "expired_text": "Nothing was charged. Go back to the site to start again.",
    "back": "Back to the site",
    "missing_heading": "There is no such payment page",
    "missing_text": "Check the address, or start again from the site.",
}

FRENCH: Final[Texts] = {
    "lang": "fr",
    "banner": "Page de paiement de test. Aucune carte n’est débitée, aucune somme ne circule.",
    "title": "Paiement",
    "pay_heading": "Payer {amount}",
    "summary_label": "Ce que vous payez",
    "email": "Adresse e-mail",
    "card_number": "Numéro de carte",
    "expiry": "Date d’expiration",
    "expiry_hint": "Mois et année, MM/AA",
    "cvc": "Code de sécurité",
    "cvc_hint": "Trois chiffres au dos de la carte",
    "name": "Nom du titulaire de la carte",
    "pay": "Payer {amount}",
    "cancel": "Annuler et revenir",
    "cards_heading": "Cartes de test",
    "cards_hint": "Choisissez une date à venir et trois chiffres quelconques.",
    "card_column": "Numéro",
    "fate_column": "Ce qui se passe",
    "fate_success": "Le paiement aboutit",
    "fate_decline": "La banque refuse",
    "fate_funds": f"Refus{_WIDE}: provision insuffisante",
    "fate_authentication": "La banque demande une authentification",
    "error_heading": "Le paiement n’a pas abouti",
    "email_wrong": "Indiquez une adresse e-mail, par exemple nom@exemple.fr.",
    "card_number_wrong": "Ce numéro de carte n’est pas valable. Vérifiez ses chiffres.",
    "expiry_wrong": "Indiquez un mois et une année, par exemple 04/31.",
    "expiry_past": "Cette carte a expiré.",
    "cvc_wrong": "Indiquez les trois ou quatre chiffres du code de sécurité.",
    "name_wrong": "Indiquez le nom inscrit sur la carte.",
    "generic_decline": "Votre carte a été refusée. Essayez une autre carte.",
    "insufficient_funds": "La provision de votre carte est insuffisante. Essayez une autre carte.",
    "live_mode_test_card": (
        "Seules les cartes de test fonctionnent sur cette page. Votre carte n’a pas été débitée."
    ),
    "authentication_failed": (
        "Votre banque n’a pas pu vous authentifier. Réessayez ou utilisez une autre carte."
    ),
    "bank_heading": "Votre banque vous demande de vous identifier",
    "bank_text": "Un paiement de {amount} attend votre confirmation.",
    "authenticate": "Réussir l’authentification",
    "fail": "Échouer à l’authentification",
    "paid_heading": "Ce paiement est terminé",
    "paid_text": "Il n’y a plus rien à payer ici.",
    "expired_heading": "Cette page de paiement a expiré",
    "expired_text": "Rien n’a été débité. Revenez sur le site pour recommencer.",
    "back": "Revenir au site",
    "missing_heading": "Cette page de paiement n’existe pas",
    "missing_text": "Vérifiez l’adresse, ou recommencez depuis le site.",
}

_SYMBOLS_IN_FRENCH = {"eur": "€", "gbp": "£GB", "usd": "$US"}
_SYMBOLS_IN_ENGLISH = {"eur": "€", "gbp": "£", "usd": "$"}


def texts_for(*, locale: str | None, accept_language: str) -> Texts:
    """Return the words of the session's language; ``auto`` follows the browser."""
    wanted = locale if locale not in {None, "auto"} else accept_language
    return FRENCH if (wanted or "").lower().startswith("fr") else ENGLISH


def amount_text(*, amount_minor: int, currency: str, texts: Texts) -> str:
    """Return an amount as the language writes it: ``€1,234.50`` or ``1 234,50 €``."""
    whole, cents = f"{amount_minor // 100:,}", f"{amount_minor % 100:02d}"
    if texts["lang"] == "en":
        return f"{_SYMBOLS_IN_ENGLISH[currency]}{whole}.{cents}"
    spaced = whole.replace(",", _NARROW)
    return f"{spaced},{cents}{_WIDE}{_SYMBOLS_IN_FRENCH[currency]}"
