from argparse import ArgumentParser

from django.core.management.base import BaseCommand, CommandError

from config.messages import build, find_untranslated


class Command(BaseCommand):
    help = "Join and compile the French messages; --check names the strings without French."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--check", action="store_true")

    def handle(self, *args: object, **options: object) -> None:
        count = build()
        missing = find_untranslated() if options["check"] else []
        for place, message in missing:
            self.stderr.write(f"{place}: {message}")
        if missing:
            raise CommandError(f"{len(missing)} strings have no French.")
        self.stdout.write(f"{count} messages")
