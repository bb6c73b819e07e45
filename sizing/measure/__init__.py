"""Measuring runs on a card, beside what the engine expects of them.

PyTorch is used by one file only, `sizing.measure.on_card`, which stands alone: it is the script
that people run on machines of their own. Everything else here works without a card.
"""
