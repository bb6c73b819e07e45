"""Every template of ours compiles: a page that cannot be parsed must not wait for its first reader."""

from pathlib import Path

import pytest
from django.conf import settings
from django.template.loader import get_template

FOLDER = settings.BASE_DIR / "templates"
NAMES = sorted(
    str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*") if path.suffix in {".html", ".txt"}
)


@pytest.mark.parametrize("name", NAMES)
def test_compiles(name: str) -> None:
    get_template(name)


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("components/")])
def test_a_component_states_its_inputs_first(name: str) -> None:
    first_line = (FOLDER / Path(name)).read_text(encoding="utf-8").lstrip()

    assert first_line.startswith("{% comment %}")


# Mail programs read inline styles only, so mails are left out.
@pytest.mark.parametrize(
    "name", [name for name in NAMES if name.endswith(".html") and not name.startswith("emails/")]
)
def test_carries_no_inline_style_or_handler(name: str) -> None:
    source = (FOLDER / Path(name)).read_text(encoding="utf-8")

    assert " style=" not in source
    assert "<style" not in source
    assert " onclick=" not in source
