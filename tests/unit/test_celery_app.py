"""Every process of the site rings the site's own broker."""

from concurrent.futures import ThreadPoolExecutor

from celery import current_app
from django.conf import settings


def test_a_thread_of_the_web_server_sends_through_the_sites_own_application():
    def seen() -> tuple[str, str]:
        return current_app.main, current_app.conf.broker_url

    with ThreadPoolExecutor(max_workers=1) as pool:
        answer = pool.submit(seen).result()

    assert answer == ("gpubourse", settings.REDIS_URL)
