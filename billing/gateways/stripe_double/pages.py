"""The HTML of the hosted page. No script, one style sheet of its own, no outside address."""

from collections.abc import Mapping
from html import escape
from http import HTTPStatus
from urllib.parse import urlsplit

from billing.gateways.stripe_double.store import Document
from billing.gateways.stripe_double.texts import Texts, amount_text
from billing.gateways.stripe_double.web import Reply

STYLE_PATH = "/c/style.css"

Errors = Mapping[str, str]
Values = Mapping[str, str]

_FIELDS = (
    # name, input mode, autocomplete, longest value
    ("email", "email", "email", 200),
    ("card_number", "numeric", "cc-number", 23),
    ("expiry", "numeric", "cc-exp", 7),
    ("cvc", "numeric", "cc-csc", 4),
    ("name", "text", "cc-name", 200),
)

_SHOWN_CARDS = (
    ("4242 4242 4242 4242", "fate_success"),
    ("4000 0000 0000 0002", "fate_decline"),
    ("4000 0000 0000 9995", "fate_funds"),
    ("4000 0025 0000 3155", "fate_authentication"),
    ("4000 0000 0000 3220", "fate_authentication"),
)


def payment_page(
    *, session: Document, texts: Texts, values: Values, errors: Errors, failure: str | None
) -> Reply:
    """Return the card form, with what was wrong last time."""
    amount = _amount(session, texts)
    fields = "".join(
        _field(field, texts=texts, values=values, errors=errors)
        for field in _FIELDS
        if field[0] != "email" or not session["customer_email"]
    )
    main = f"""
<h1>{_say(texts, "pay_heading", amount)}</h1>
<dl aria-label="{_say(texts, "summary_label")}">
<div><dt>{escape(session["_description"])}</dt><dd>{escape(amount)}</dd></div>
</dl>
{_alert(texts, failure)}
<form method="post" action="/c/pay/{session["id"]}" id="payment" novalidate>
{fields}
<button type="submit">{_say(texts, "pay", amount)}</button>
</form>
{_link(session["cancel_url"], _say(texts, "cancel"))}
{_card_table(texts)}
"""
    return _page(texts, main, form_targets=[session["success_url"], session["cancel_url"]])


def authentication_page(*, session: Document, texts: Texts) -> Reply:
    """Return the bank's question."""
    main = f"""
<h1>{_say(texts, "bank_heading")}</h1>
<p>{_say(texts, "bank_text", _amount(session, texts))}</p>
<form method="post" action="/c/pay/{session["id"]}/authenticate" id="authentication">
<button type="submit" name="outcome" value="authenticate">{_say(texts, "authenticate")}</button>
<button type="submit" name="outcome" value="fail" class="quiet">{_say(texts, "fail")}</button>
</form>
"""
    return _page(texts, main, form_targets=[session["success_url"]])


def paid_page(*, texts: Texts, back_url: str) -> Reply:
    """Return the page of a session that was paid before."""
    return _message_page(texts, kind="paid", back_url=back_url)


def expired_page(*, session: Document, texts: Texts) -> Reply:
    """Return the page of a session whose time is up."""
    return _message_page(
        texts, kind="expired", back_url=session["cancel_url"], status=HTTPStatus.GONE
    )


def missing_page(*, texts: Texts) -> Reply:
    """Return the page of an address nobody was given."""
    return _message_page(texts, kind="missing", back_url=None, status=HTTPStatus.NOT_FOUND)


def style_sheet() -> Reply:
    """Return the one style sheet."""
    return Reply(
        body=_STYLE.encode(),
        content_type="text/css; charset=utf-8",
        headers={"Cache-Control": "public, max-age=3600"},
    )


def _message_page(
    texts: Texts, *, kind: str, back_url: str | None, status: int = HTTPStatus.OK
) -> Reply:
    main = f"""
<h1>{_say(texts, f"{kind}_heading")}</h1>
<p>{_say(texts, f"{kind}_text")}</p>
{_link(back_url, _say(texts, "back"))}
"""
    return _page(texts, main, form_targets=[], status=status)


def _page(
    texts: Texts, main: str, *, form_targets: list[str | None], status: int = HTTPStatus.OK
) -> Reply:
    html = f"""<!doctype html>
<html lang="{texts["lang"]}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>{_say(texts, "title")}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{STYLE_PATH}">
</head>
<body>
<header class="banner"><p>{_say(texts, "banner")}</p></header>
<main>{main}</main>
</body>
</html>
"""
    return Reply(
        status=status,
        body=html.encode(),
        content_type="text/html; charset=utf-8",
        headers={
            "Cache-Control": "no-store",
            "Content-Security-Policy": _content_policy(form_targets),
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
        },
    )


def _content_policy(form_targets: list[str | None]) -> str:
    # Chromium applies form-action to the redirect after the post as well, so that the site
    # itself must be allowed there.
    origins = sorted({_origin(url) for url in form_targets if url})
    return "; ".join(
        [
            "default-src 'none'",
            "style-src 'self'",
            "img-src data:",
            " ".join(["form-action 'self'", *origins]),
            "base-uri 'none'",
            "frame-ancestors 'none'",
        ]
    )


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _amount(session: Document, texts: Texts) -> str:
    return amount_text(
        amount_minor=session["amount_total"], currency=session["currency"], texts=texts
    )


def _say(texts: Texts, key: str, amount: str = "") -> str:
    return escape(texts[key].format(amount=amount))


def _alert(texts: Texts, failure: str | None) -> str:
    if failure is None:
        return ""
    heading = _say(texts, "error_heading")
    return f'<div role="alert" class="alert"><strong>{heading}</strong><p>{_say(texts, failure)}</p></div>'


def _field(
    field: tuple[str, str, str, int], *, texts: Texts, values: Values, errors: Errors
) -> str:
    name, mode, autocomplete, longest = field
    hint, described = "", []
    if f"{name}_hint" in texts:
        hint = f'<small id="{name}-hint">{_say(texts, f"{name}_hint")}</small>'
        described.append(f"{name}-hint")
    error = ""
    if name in errors:
        error = f'<span id="{name}-error" class="error">{_say(texts, errors[name])}</span>'
        described.append(f"{name}-error")
    about = f' aria-describedby="{" ".join(described)}"' if described else ""
    wrong = ' aria-invalid="true"' if name in errors else ""
    return f"""
<div class="field field-{name}">
<label for="{name}">{_say(texts, name)}</label>
<input id="{name}" name="{name}" type="text" inputmode="{mode}" autocomplete="{autocomplete}"
 maxlength="{longest}" value="{escape(values.get(name, ""))}" required{about}{wrong}>
{hint}{error}
</div>"""


def _link(url: str | None, words: str) -> str:
    return f'<p><a href="{escape(url)}">{words}</a></p>' if url else ""


def _card_table(texts: Texts) -> str:
    rows = "".join(
        f'<tr><th scope="row">{number}</th><td>{_say(texts, fate)}</td></tr>'
        for number, fate in _SHOWN_CARDS
    )
    return f"""
<details open>
<summary>{_say(texts, "cards_heading")}</summary>
<p>{_say(texts, "cards_hint")}</p>
<table>
<thead><tr><th scope="col">{_say(texts, "card_column")}</th><th scope="col">{_say(texts, "fate_column")}</th></tr></thead>
<tbody>{rows}</tbody>
</table>
</details>"""


_STYLE = """
:root {
  color-scheme: light dark;
  --bg: light-dark(#f6f8fb, #0c1118);
  --surface: light-dark(#ffffff, #141b25);
  --line: light-dark(#dde4ed, #273244);
  --edge: light-dark(#6f7b8b, #7a889e);
  --ink: light-dark(#131a24, #e8eef6);
  --ink2: light-dark(#4a586b, #a6b4c6);
  --brand: light-dark(#1f5fe0, #7fb0ff);
  --on-brand: light-dark(#ffffff, #08121f);
  --bad: light-dark(#b3261e, #ff8f86);
  --bad-bg: light-dark(#fcebe9, #301a1b);
  --warn-bg: light-dark(#ffe9b8, #4a3a10);
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--bg); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
.banner { background: var(--warn-bg); border-block-end: 1px solid var(--edge); text-align: center; }
.banner p { margin: 0; padding: .75rem 1rem; font-weight: 600; }
main {
  max-inline-size: 30rem; margin: 2rem auto; padding: 1.5rem;
  background: var(--surface); border: 1px solid var(--line); border-radius: 10px;
}
h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.25; font-variant-numeric: tabular-nums; }
dl { margin: 0 0 1.5rem; padding-block-end: 1rem; border-block-end: 1px solid var(--line); }
dl div { display: flex; justify-content: space-between; gap: 1rem; }
dd { margin: 0; font-variant-numeric: tabular-nums; white-space: nowrap; }
form { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; }
.field { grid-column: 1 / -1; display: grid; gap: .25rem; align-content: start; }
.field-expiry { grid-column: 1; }
.field-cvc { grid-column: 2; }
label { font-weight: 600; }
small { color: var(--ink2); font-size: .8125rem; }
input {
  inline-size: 100%; min-block-size: 44px; padding: .5rem .75rem; font: inherit;
  color: inherit; background: var(--bg); border: 1px solid var(--edge); border-radius: 7px;
}
input[aria-invalid] { border-color: var(--bad); }
.error { color: var(--bad); font-size: .875rem; }
.alert {
  margin-block-end: 1rem; padding: .75rem 1rem; color: var(--bad); background: var(--bad-bg);
  border: 1px solid var(--bad); border-radius: 7px;
}
.alert p { margin: 0; }
button {
  grid-column: 1 / -1; min-block-size: 48px; padding: .5rem 1rem; font: inherit; font-weight: 600;
  color: var(--on-brand); background: var(--brand); border: 1px solid var(--brand);
  border-radius: 7px; cursor: pointer;
}
button.quiet { color: var(--brand); background: transparent; }
a { color: var(--brand); }
:focus-visible { outline: 3px solid var(--brand); outline-offset: 2px; }
details { margin-block-start: 1.5rem; padding-block-start: 1rem; border-block-start: 1px solid var(--line); }
summary { font-weight: 600; cursor: pointer; }
table { inline-size: 100%; border-collapse: collapse; font-size: .875rem; }
th, td { padding: .375rem 1rem .375rem 0; text-align: start; vertical-align: top; }
tbody th { font-weight: 400; font-variant-numeric: tabular-nums; white-space: nowrap; }
tr { border-block-end: 1px solid var(--line); }
@media (max-width: 32rem) { main { margin: 0; border-inline: 0; border-radius: 0; } }
"""
