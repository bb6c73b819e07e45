"""The ledger, computed again from its rows: every difference, in words.

Nothing here is repaired. A difference means a mistake in the code or a hand in the database; an
operator looks, and corrects with a journal of its own.
"""

from collections.abc import Iterator

from django.db import connection

# Each names what is wrong, with one %s for each column. A healthy ledger gives no row.
PROOFS = (
    (
        "Journal %s does not sum to zero in %s: %s minor units remain.",
        """
        SELECT journal_id, currency, sum(amount_minor) FROM billing_posting
        GROUP BY journal_id, currency HAVING sum(amount_minor) <> 0 ORDER BY 1, 2
        """,
    ),
    (
        "Journal %s (%s) has %s postings: a journal has at least two.",
        """
        SELECT journal.id, journal.idem_key, count(posting.id)
        FROM billing_journal AS journal
        LEFT JOIN billing_posting AS posting ON posting.journal_id = journal.id
        GROUP BY journal.id HAVING count(posting.id) < 2 ORDER BY 1
        """,
    ),
    (
        "Posting %s is in %s, its account %s in %s.",
        """
        SELECT posting.id, posting.currency, account.code, account.currency
        FROM billing_posting AS posting
        JOIN billing_account AS account ON account.id = posting.account_id
        WHERE posting.currency <> account.currency ORDER BY 1
        """,
    ),
    (
        "Account %s says a balance of %s; its postings sum to %s.",
        """
        SELECT account.code, account.posted_minor, coalesce(sum(posting.amount_minor), 0)
        FROM billing_account AS account
        LEFT JOIN billing_posting AS posting ON posting.account_id = account.id
        WHERE account.keeps_balance
        GROUP BY account.id
        HAVING account.posted_minor <> coalesce(sum(posting.amount_minor), 0) ORDER BY 1
        """,
    ),
    (
        "Account %s says that %s is held; its open holds sum to %s.",
        """
        SELECT account.code, account.held_minor,
               coalesce(sum(hold.amount_minor - hold.captured_minor), 0)
        FROM billing_account AS account
        LEFT JOIN billing_hold AS hold ON hold.account_id = account.id AND hold.state = 'open'
        GROUP BY account.id
        HAVING account.held_minor <> coalesce(sum(hold.amount_minor - hold.captured_minor), 0)
        ORDER BY 1
        """,
    ),
    (
        "Wallet %s has %s and holds %s: it must cover what it holds.",
        """
        SELECT code, posted_minor, held_minor FROM billing_account
        WHERE kind = 'wallet' AND (posted_minor < held_minor OR held_minor < 0) ORDER BY 1
        """,
    ),
    (
        "Hold %s says that %s was captured; its charges took %s.",
        """
        SELECT hold.purpose, hold.captured_minor,
               -coalesce(sum(move.amount_minor) FILTER (WHERE move.kind = 'captured'), 0)
        FROM billing_hold AS hold
        LEFT JOIN billing_holdmove AS move ON move.hold_id = hold.id
        GROUP BY hold.id
        HAVING hold.captured_minor <>
               -coalesce(sum(move.amount_minor) FILTER (WHERE move.kind = 'captured'), 0)
        ORDER BY 1
        """,
    ),
    (
        "Hold %s, %s, should have %s left; its changes leave %s.",
        """
        SELECT hold.purpose, hold.state,
               CASE hold.state WHEN 'open' THEN hold.amount_minor - hold.captured_minor ELSE 0 END,
               coalesce(sum(move.amount_minor), 0)
        FROM billing_hold AS hold
        LEFT JOIN billing_holdmove AS move ON move.hold_id = hold.id
        GROUP BY hold.id
        HAVING coalesce(sum(move.amount_minor), 0) <>
               CASE hold.state WHEN 'open' THEN hold.amount_minor - hold.captured_minor ELSE 0 END
        ORDER BY 1
        """,
    ),
    (
        "Journal %s (%s) took %s from a wallet and %s from its hold.",
        """
        SELECT journal.id, journal.idem_key, posting.amount_minor, coalesce(move.amount_minor, 0)
        FROM billing_journal AS journal
        JOIN billing_posting AS posting ON posting.journal_id = journal.id
        JOIN billing_account AS account ON account.id = posting.account_id
             AND account.kind = 'wallet'
        LEFT JOIN billing_holdmove AS move ON move.journal_id = journal.id
             AND move.account_id = posting.account_id
        WHERE journal.kind IN ('hour_charge', 'break_fee')
          AND posting.amount_minor <> coalesce(move.amount_minor, 0) ORDER BY 1
        """,
    ),
    (
        "Top-up %s is %s for %s %s; its journal credits %s.",
        """
        SELECT top_up.id, top_up.state, top_up.amount_minor, top_up.currency, credit.total
        FROM billing_topup AS top_up
        LEFT JOIN LATERAL (
            SELECT coalesce(sum(posting.amount_minor), 0) AS total
            FROM billing_posting AS posting
            JOIN billing_account AS account ON account.id = posting.account_id
            WHERE posting.journal_id = top_up.journal_id
              AND account.organisation_id = top_up.organisation_id
              AND account.currency = top_up.currency
              AND account.kind IN ('wallet', 'receivable')
        ) AS credit ON true
        WHERE (top_up.state = 'paid' OR top_up.journal_id IS NOT NULL)
          AND (top_up.state <> 'paid' OR credit.total <> top_up.amount_minor) ORDER BY 1
        """,
    ),
    (
        "Journal %s (%s) is a top-up that no payment accounts for.",
        """
        SELECT journal.id, journal.idem_key FROM billing_journal AS journal
        LEFT JOIN billing_topup AS top_up ON top_up.journal_id = journal.id
        WHERE journal.kind = 'top_up' AND top_up.id IS NULL ORDER BY 1
        """,
    ),
)
# One bad day must not fill the screen: the first of each kind, and how many there are.
SHOWN_OF_EACH = 20


def billing_differences() -> list[str]:
    """Return every difference between what is kept and what its rows sum to; none when all is right.

    Ask inside one transaction of isolation REPEATABLE READ while the site runs: each proof is one
    statement, and what happens between two of them must not look like a difference.
    """
    return [words for sentence, query in PROOFS for words in _differences(sentence, query)]


def _differences(sentence: str, query: str) -> Iterator[str]:
    with connection.cursor() as cursor:
        cursor.execute(query)
        rows = cursor.fetchall()
    for row in rows[:SHOWN_OF_EACH]:
        yield sentence % row
    if len(rows) > SHOWN_OF_EACH:
        yield f"… and {len(rows) - SHOWN_OF_EACH} more like the last."
