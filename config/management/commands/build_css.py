"""Join the style sheets into the one file that pages load."""

import re
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

# The order matters: later files win inside the same layer, so narrow screens and
# single-purpose classes come last.
PARTS = (
    "tokens.css",
    "base.css",
    "components/frame.css",
    "components/layout.css",
    "components/surfaces.css",
    "components/dialog.css",
    "components/progress.css",
    "components/actions.css",
    "components/badge.css",
    "components/verdict.css",
    "components/price.css",
    "components/chips.css",
    "components/field.css",
    "components/slider.css",
    "components/segments.css",
    "components/tabs.css",
    "components/errors.css",
    "components/values.css",
    "components/tables.css",
    "components/pictures.css",
    "components/doors.css",
    "components/steps.css",
    "components/prose.css",
    "components/contents.css",
    "components/pager.css",
    "components/bar.css",
    "components/blocks.css",
    "components/home.css",
    "components/catalogue.css",
    "components/compare.css",
    "components/explanations.css",
    "components/calculator.css",
    "components/share_bar.css",
    "components/terms.css",
    "components/ask.css",
    "components/schedule.css",
    "components/document.css",
    "components/account_shell.css",
    "components/wallets.css",
    "components/rental_hours.css",
    "components/command.css",
    "components/account_lists.css",
    "components/statement.css",
    "components/account_pictures.css",
    "components/account_narrow.css",
    "components/narrow.css",
    "util.css",
)
RESULT = "site.css"

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_SPACE = re.compile(r"\s+")
# Not around ":" or "+": a space there can be part of a selector or of a calculation.
_AROUND_SIGNS = re.compile(r" ?([{};,]) ?")


class Command(BaseCommand):
    """Build static/css/site.css. Safe to repeat: the file is written only when it changes."""

    help = "Join static/css into one file, without comments."

    def handle(self, *_arguments: Any, **_options: Any) -> None:
        folder = settings.BASE_DIR / "static" / "css"
        result = folder / RESULT
        css = joined_css(folder)
        if not result.exists() or result.read_text(encoding="utf-8") != css:
            result.write_text(css, encoding="utf-8")
        self.stdout.write(f"{RESULT}: {len(css.encode())} bytes")


def joined_css(folder: Path) -> str:
    """Return the whole style sheet of ``folder``, without comments and spare space."""
    parts = [(folder / part).read_text(encoding="utf-8") for part in PARTS]
    text = _SPACE.sub(" ", _COMMENT.sub("", "\n".join(parts)))
    return _AROUND_SIGNS.sub(r"\1", text).strip() + "\n"
