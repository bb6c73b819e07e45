"""What a job needs, which card holds it, how long it takes and what that costs. Pure.

shapes       models by their dimensions: the table, a config.json, by hand, a size alone
training     the memory of a training run, term by term
serving      the memory and the speed of a model that answers
benchmarked  pictures and clips, rendering, simulation: judged by published benchmarks
planning     cards and numbers of cards: verdicts, smallest change, backwards answers, cost
plain        jobs and answers as plain values, the same for pages, the API and commands
commands     the command line, ``python -m sizing``
accuracy     how far all this is from what was measured or stated
measure      measuring on a card of one's own

The modules beside them are what all of these share: cards, units, bounds, the indicative capacity.
"""
