"""What a test reads of a page: rows of tables, plain text, links."""

import re
from html import unescape

from django.test import Client


def page(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, address
    return response.content.decode()


def table_rows(html: str) -> list[list[str]]:
    """Return the plain text of the cells of the first table's body."""
    body = re.search(r"<tbody>(.*?)</tbody>", html, re.DOTALL)
    assert body is not None
    return [
        [plain(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)]
        for row in re.findall(r"<tr[^>]*>(.*?)</tr>", body[1], re.DOTALL)
    ]


def plain(html: str) -> str:
    """Return the words of a piece of HTML, with every kind of space as one ordinary space."""
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", html))).strip()


def names(html: str) -> list[str]:
    """Return the first cell of every row."""
    return [row[0] for row in table_rows(html)]
