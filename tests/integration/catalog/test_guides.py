"""Guides: loaded from files without touching staff's work, read in two languages, drafts unseen."""

import re
from datetime import date

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.translation import override

from catalog.content.guide_files import guide_files
from catalog.models import Guide, GuideText
from catalog.operations.guides import LoadedGuides, load_guides
from marketplace.accounts.operations.people import enrol_totp
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db

BACKEND = "allauth.account.auth_backends.AuthenticationBackend"
FRENCH = "/fr/guides/choisir-un-gpu-pour-le-reglage-fin/"
ENGLISH = "/en/guides/choosing-a-gpu-for-fine-tuning/"


@pytest.fixture
def guides(catalogue) -> None:
    load_guides()


@pytest.fixture
def staff_client(client):
    user = UserFactory.create(is_staff=True, is_superuser=True)
    enrol_totp(user=user, secret="JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    client.force_login(user, backend=BACKEND)
    return client


def text(language: str = "en", key: str = "fine-tuning") -> GuideText:
    return GuideText.objects.get(guide__key=key, language=language)


def set_state(language: str, state: str) -> None:
    GuideText.objects.filter(guide__key="fine-tuning", language=language).update(state=state)


class TestLoading:
    def test_creates_every_text_of_the_files_published(self, catalogue) -> None:
        loaded = load_guides()

        assert loaded == LoadedGuides(created=6)
        assert {t.state for t in GuideText.objects.all()} == {"published"}
        guide = Guide.objects.get(key="fine-tuning")
        assert guide.cards.filter(slug="rtx-4090").exists()
        assert guide.cards.count() == len(guide_files()[0].cards)

    def test_changes_nothing_the_second_time(self, guides) -> None:
        assert load_guides() == LoadedGuides(unchanged=6)

    def test_refreshes_a_text_that_nobody_edited(self, guides, monkeypatch) -> None:
        later = [replaced(file, title="Newer") for file in guide_files()]
        monkeypatch.setattr("catalog.operations.guides.guide_files", lambda: later)

        loaded = load_guides()

        assert loaded == LoadedGuides(refreshed=6)
        assert text().title == "Newer"

    def test_leaves_what_staff_edited_even_when_the_file_is_newer(
        self, guides, monkeypatch
    ) -> None:
        GuideText.objects.filter(pk=text().pk).update(body="Ours.\n")
        later = [replaced(file, title="Newer") for file in guide_files()]
        monkeypatch.setattr("catalog.operations.guides.guide_files", lambda: later)

        loaded = load_guides()

        assert loaded == LoadedGuides(refreshed=5, kept=("en/fine-tuning",))
        assert (text().body, text().title) == ("Ours.\n", guide_files()[0].texts[0].title)

    def test_leaves_a_text_that_staff_took_back_and_the_cards_they_chose(self, guides) -> None:
        set_state("en", "draft")
        Guide.objects.get(key="fine-tuning").cards.clear()

        load_guides()

        assert text().state == "draft"
        assert Guide.objects.get(key="fine-tuning").cards.count() == 0

    def test_leaves_a_slug_to_the_guide_of_staff_that_has_it(self, catalogue) -> None:
        file = guide_files()[0].texts[0]
        ours = Guide.objects.create(key="ours")
        GuideText.objects.create(
            guide=ours, language="en", slug=file.slug, title="Ours", reviewed_on=date(2026, 1, 1)
        )

        loaded = load_guides()

        assert loaded == LoadedGuides(created=5, kept=("en/fine-tuning",))


class TestReading:
    @pytest.mark.parametrize(
        ("url", "words"),
        [
            (FRENCH, ["Lecture", "Relu le 30 nov. 2026", "Sommaire", f'href="{ENGLISH}"']),
            (ENGLISH, ["Reading time", "Reviewed on 30 Nov 2026", "Contents", f'href="{FRENCH}"']),
        ],
    )
    def test_shows_the_guide_with_its_contents_and_its_twin(
        self, client, guides, url, words
    ) -> None:
        page = client.get(url)

        assert page.status_code == 200
        html = page.content.decode()
        assert [word for word in words if word not in html] == []
        assert html.count("<h1") == 1
        assert "[[" not in html

    def test_shows_related_cards_with_live_prices(self, client, guides, best_usd_offers) -> None:
        html = client.get(ENGLISH).content.decode()

        assert "$0.33" in html
        assert 'href="/en/gpus/rtx-4090/?currency=USD"' in html

    def test_says_that_a_card_has_no_offer(self, client, guides) -> None:
        assert "No offer" in client.get(ENGLISH).content.decode()

    def test_tells_search_engines_of_both_languages(self, client, guides) -> None:
        html = client.get(FRENCH).content.decode()

        for code, path in (("fr", FRENCH), ("en", ENGLISH), ("x-default", ENGLISH)):
            assert f'hreflang="{code}" href="http://127.0.0.1:8000{path}"' in html

    def test_says_that_a_text_is_missing_and_names_no_page_that_is_not_there(
        self, client, guides
    ) -> None:
        set_state("fr", "draft")

        html = client.get(ENGLISH).content.decode()

        assert "Not yet available in French." in html
        assert 'hreflang="fr" href="http' not in html
        assert f'hreflang="x-default" href="http://127.0.0.1:8000{ENGLISH}"' in html
        assert '<a href="/fr/guides/" lang="fr"' in html

    def test_leads_from_the_slug_of_the_other_language_to_this_languages_page(
        self, client, guides
    ) -> None:
        page = client.get("/fr/guides/choosing-a-gpu-for-fine-tuning/")

        assert (page.status_code, page["Location"]) == (302, FRENCH)

    def test_knows_no_page_for_a_slug_without_a_text_in_this_language(self, client, guides) -> None:
        set_state("fr", "draft")

        assert client.get("/fr/guides/choosing-a-gpu-for-fine-tuning/").status_code == 404

    def test_knows_no_unknown_guide(self, client, guides) -> None:
        assert client.get("/en/guides/no-such-guide/").status_code == 404

    def test_refuses_an_unknown_currency_by_its_name(self, client, guides) -> None:
        page = client.get(ENGLISH, {"currency": "doge"})

        assert page.status_code == 400
        assert "doge" in page.content.decode()

    def test_asks_the_database_few_questions(self, client, guides, django_assert_max_num_queries):
        with django_assert_max_num_queries(8):
            client.get(ENGLISH)

    @pytest.mark.parametrize(
        "url", [FRENCH, ENGLISH, "/en/guides/choosing-a-gpu-for-llm-inference/"]
    )
    def test_links_to_pages_that_exist(self, client, guides, url) -> None:
        article = client.get(url).content.decode().split("<article")[1].split("</article>")[0]

        own = re.findall(r'href="(/[^"]+)"', article)
        assert {path: client.get(path).status_code for path in own} == dict.fromkeys(own, 200)
        foreign = re.findall(r'<a href="https?:[^>]+>', article)
        assert foreign
        assert all('rel="nofollow noopener"' in link for link in foreign)


class TestTheList:
    def test_lists_every_guide_in_the_readers_language(self, client, guides) -> None:
        html = client.get("/fr/guides/").content.decode()

        assert html.count("<article") == 3
        assert "Choisir un GPU pour le rendu 3D" in html
        assert "Pas encore disponible" not in html

    def test_lists_a_guide_of_the_other_language_and_says_so(self, client, guides) -> None:
        set_state("fr", "draft")

        html = client.get("/fr/guides/").content.decode()

        assert html.count("<article") == 3
        assert "Pas encore disponible en français" in html
        assert f'href="{ENGLISH}" lang="en"' in html

    def test_says_that_there_is_none_yet(self, client, catalogue) -> None:
        assert "No guide yet" in client.get("/en/guides/").content.decode()

    def test_asks_the_database_few_questions(self, client, guides, django_assert_max_num_queries):
        with django_assert_max_num_queries(4):
            client.get("/en/guides/")


class TestDrafts:
    def test_are_no_page_for_strangers(self, client, guides) -> None:
        set_state("en", "draft")
        pk = text().pk

        assert client.get(ENGLISH).status_code == 404
        assert client.get(f"/en/guides/{pk}/preview/").status_code == 404
        client.force_login(UserFactory.create(), backend=BACKEND)
        assert client.get(ENGLISH).status_code == 404
        assert client.get(f"/en/guides/{pk}/preview/").status_code == 404
        assert ENGLISH not in client.get("/en/guides/").content.decode()

    def test_are_shown_to_staff_and_marked(self, staff_client, guides) -> None:
        set_state("en", "draft")

        for url in (ENGLISH, f"/en/guides/{text().pk}/preview/"):
            html = staff_client.get(url).content.decode()
            assert "This is a draft." in html
            assert '<meta name="robots" content="noindex">' in html
        assert "Draft" in staff_client.get("/en/guides/").content.decode()

    def test_are_previewed_in_their_own_language(self, staff_client, guides) -> None:
        html = staff_client.get(f"/en/guides/{text('fr').pk}/preview/").content.decode()

        assert '<html lang="fr"' in html
        assert "C’est un aperçu." in html

    def test_preview_of_an_unknown_text_is_no_page(self, staff_client, guides) -> None:
        assert staff_client.get("/en/guides/999999/preview/").status_code == 404


class TestWriting:
    def values(self, **changed: object) -> dict[str, object]:
        return {
            "guide": Guide.objects.create(key="new").pk,
            "language": "en",
            "slug": "new-guide",
            "title": "New guide",
            "short_title": "New",
            "description": "A new guide.",
            "body": "## Part\r\n\r\nWords.",
            "state": "draft",
            "published_on": "",
            "reviewed_on": "2026-11-30",
            **changed,
        }

    def send(self, client, **changed: object):
        with override("en"):
            return client.post(reverse("admin:catalog_guidetext_add"), self.values(**changed))

    def test_keeps_a_draft_with_plain_line_ends(self, staff_client, guides) -> None:
        assert self.send(staff_client).status_code == 302

        row = GuideText.objects.get(slug="new-guide")
        assert (row.body, row.state, row.published_on) == ("## Part\n\nWords.\n", "draft", None)

    def test_dates_a_text_on_the_day_it_is_published(self, staff_client, guides) -> None:
        self.send(staff_client, state="published")

        assert GuideText.objects.get(slug="new-guide").published_on is not None

    def test_says_at_the_slug_that_it_is_taken(self, staff_client, guides) -> None:
        page = self.send(staff_client, slug="choosing-a-gpu-for-fine-tuning")

        assert page.status_code == 200
        errors = page.context["adminform"].form.errors
        assert errors == {"slug": ["Another guide in this language has this slug."]}
        assert GuideText.objects.count() == 6

    def test_lets_the_other_language_have_the_same_slug(self, staff_client, guides) -> None:
        page = self.send(staff_client, slug="choosing-a-gpu-for-fine-tuning", language="fr")

        assert page.status_code == 302

    def test_says_at_the_language_that_the_guide_has_it(self, staff_client, guides) -> None:
        page = self.send(staff_client, guide=Guide.objects.get(key="fine-tuning").pk)

        errors = page.context["adminform"].form.errors
        assert errors == {"language": ["This guide already has a text in this language."]}

    def test_names_the_figure_that_does_not_exist(self, staff_client, guides) -> None:
        page = self.send(staff_client, body="[[full-training]]\r\n\r\n[[sales]]\r\n")

        (error,) = page.context["adminform"].form.errors["body"]
        assert error.startswith("No figure is called “sales”.")

    def test_a_text_saved_unchanged_still_counts_as_the_files(self, staff_client, guides) -> None:
        row = text()
        values = {
            name: getattr(row, name)
            for name in ("language", "slug", "title", "short_title", "description", "state")
        }
        values |= {
            "guide": row.guide_id,
            "body": row.body.replace("\n", "\r\n"),
            "published_on": row.published_on,
            "reviewed_on": row.reviewed_on,
        }

        with override("en"):
            page = staff_client.post(
                reverse("admin:catalog_guidetext_change", args=[row.pk]), values
            )

        assert page.status_code == 302
        assert load_guides() == LoadedGuides(unchanged=6)

    def test_readers_see_a_change_although_their_page_was_kept(
        self, staff_client, guides, settings, own_cache, django_capture_on_commit_callbacks
    ) -> None:
        settings.PUBLIC_PAGE_SECONDS = 60
        reader = Client()
        assert "A new guide." not in reader.get("/en/guides/").content.decode()

        with django_capture_on_commit_callbacks(execute=True):
            self.send(staff_client, state="published")

        assert "A new guide." in reader.get("/en/guides/").content.decode()

    def test_scripts_in_markdown_reach_no_reader(self, staff_client, guides) -> None:
        GuideText.objects.filter(pk=text().pk).update(
            body="<script>alert(1)</script>\n\n[x](javascript:alert(1))\n"
        )

        html = staff_client.get(ENGLISH).content.decode()

        assert "<script>alert" not in html
        assert 'href="javascript' not in html

    def test_lists_which_language_is_missing_with_the_way_to_add_it(self, staff_client, guides):
        guide = Guide.objects.create(key="new")

        with override("en"):
            html = staff_client.get(reverse("admin:catalog_guide_changelist")).content.decode()

        assert f"?guide={guide.pk}&amp;language=en" in html
        assert html.count("Missing; add it") == 2


def replaced(file, *, title: str):
    """Return the file as a newer one, all of whose texts have another title."""
    from dataclasses import replace

    return replace(file, texts=tuple(replace(text, title=title) for text in file.texts))
