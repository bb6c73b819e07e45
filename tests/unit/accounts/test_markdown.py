"""Markdown from people becomes HTML that cannot harm a page, with ids and regions of its own."""

import re

import pytest
from django.utils.translation import override

from marketplace.accounts.markdown import Heading, headings, plain, render

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<style>body{display:none}</style>",
    "<a href='javascript:alert(1)' onclick='alert(1)'>x</a>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](java\nscript:alert(1))",
    "[x](vbscript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "![x](data:image/svg+xml;base64,PHN2Zz4=)",
    '![x](https://spy.example/p.png "onerror=alert(1)")',
    '[x](https://a.example "a" onclick="alert(1)")',
    '```x" onmouseover="alert(1)\n<script>\n```',
    '<https://a.example/" onclick=alert(1)>',
    "| <script>a</script> | b |\n|---|---|\n| <b onclick=x()>c</b> | d |",
    "# <img src=x onerror=alert(1)>",
    '<div style="position:fixed">x</div>',
    "<!-- <script>alert(1)</script> -->",
    "<form action='https://a.example'><input name=password></form>",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_lets_no_active_tag_attribute_or_address_through(text: str) -> None:
    html = render(text)

    tags = re.findall(r"<(/?[a-z][^>]*)>", html)
    assert [
        tag for tag in tags if re.match(r"/?(script|img|svg|iframe|style|form|input)\b", tag)
    ] == []
    attributes = " ".join(re.sub(r'="[^"]*"', "=", tag) for tag in tags)
    assert not re.search(r"\son\w+|\bstyle\b|\bsrc\b", attributes)
    assert not re.search(r'href="\s*(javascript|vbscript|data):', html, re.IGNORECASE)


def test_shows_raw_html_as_it_was_typed() -> None:
    assert render("a <b>c</b>") == "<p>a &lt;b&gt;c&lt;/b&gt;</p>\n"


def test_marks_links_that_leave_the_site_and_leaves_its_own_alone() -> None:
    html = render("[a](https://a.example) [b](//b.example/) [c](/fr/gpus/) [d](mailto:d@e.example)")

    assert html == (
        '<p><a href="https://a.example" rel="nofollow noopener">a</a> '
        '<a href="//b.example/" rel="nofollow noopener">b</a> '
        '<a href="/fr/gpus/">c</a> <a href="mailto:d@e.example">d</a></p>\n'
    )


def test_begins_headings_at_the_second_level_and_gives_each_an_id_of_its_own() -> None:
    text = "# Mémoire\n\n## Mémoire\n\n### `LoRA` *vite*\n\n# !"

    html = render(text)

    assert html == (
        '<h2 id="s-memoire">Mémoire</h2>\n<h2 id="s-memoire-2">Mémoire</h2>\n'
        '<h3 id="s-lora-vite"><code>LoRA</code> <em>vite</em></h3>\n<h2 id="s-part">!</h2>\n'
    )
    assert headings(text) == (
        Heading(2, "s-memoire", "Mémoire"),
        Heading(2, "s-memoire-2", "Mémoire"),
        Heading(3, "s-lora-vite", "LoRA vite"),
        Heading(2, "s-part", "!"),
    )


def test_names_the_rows_and_columns_of_a_table_and_lets_it_scroll_in_a_region() -> None:
    table = "| Card | GB |\n|---|--:|\n| L40S | 48 |\n"

    with override("en"):
        html = render(f"## Classes\n\n{table}\n{table}")

    assert '<div class="scroll" tabindex="0" role="region" aria-label="Table: Classes">' in html
    assert 'aria-label="Table: Classes (2)"' in html
    assert '<th scope="col">Card</th>\n<th class="n" scope="col">GB</th>' in html
    assert '<th scope="row">L40S</th>\n<td class="n">48</td>' in html
    assert "style" not in html


def test_lets_a_long_line_of_code_scroll_by_keyboard() -> None:
    assert render("    code") == '<pre tabindex="0"><code>code\n</code></pre>\n'


def test_puts_the_words_of_a_picture_in_its_place() -> None:
    assert render("![a *curve*](https://a.example/p.png)") == "<p>a curve</p>\n"


def test_counts_words_without_marks() -> None:
    text = "## Two *words*\n\nA [link](https://a.example)\nand `code`.\n\n| a | b |\n|---|---|\n| c | d |"

    assert plain(text).split() == ["Two", "words", "A", "link", "and", "code.", *"abcd"]


def test_reads_a_link_that_makes_no_sense_without_failing() -> None:
    assert "href" not in render("[x](https://[)")
