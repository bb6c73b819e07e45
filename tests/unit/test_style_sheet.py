"""The one style sheet: complete, small, and free of other people's addresses."""

import gzip
import re

from django.conf import settings

from config.management.commands.build_css import PARTS, joined_css

FOLDER = settings.BASE_DIR / "static" / "css"
MAX_GZIP_BYTES = 15 * 1024


def test_holds_every_file_of_the_folder() -> None:
    files = {str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.css")}

    assert files - {"site.css"} == set(PARTS)


def test_is_small() -> None:
    assert len(gzip.compress(joined_css(FOLDER).encode(), 9)) <= MAX_GZIP_BYTES


def test_names_no_other_site_and_only_files_that_are_there() -> None:
    addresses = re.findall(r"url\(([^)]*)\)", joined_css(FOLDER))

    assert addresses == ['"../fonts/inter-latin.woff2"']
    assert (FOLDER / "../fonts/inter-latin.woff2").resolve().is_file()


def test_keeps_braces_balanced_and_drops_comments() -> None:
    css = joined_css(FOLDER)

    assert css.count("{") == css.count("}")
    assert "/*" not in css


def test_writes_no_words_that_would_need_a_translation() -> None:
    words = re.findall(r'content: "([^"]*)"', joined_css(FOLDER))

    assert set(words) <= {"", "/", "✓", " "}
