"""The servers and the supervisor behind ``make demo`` and ``make test``.

Nothing in here imports Django: the stack starts the site, it is no part of it. The one exception
is the demo's SSH server, a process of its own, which asks the site's database for keys.
"""
