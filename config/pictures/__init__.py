"""The geometry of the pictures that pages draw: whole numbers in, coordinates as text out.

Shapes live in a stretched box of 1000 × 1000; labels stand outside it, in percent. No float.
"""
