"""Times in forms: on the grid of quarters, in the viewer's time zone."""

from django import forms
from django_stubs_ext import StrOrPromise

# What a browser sends for <input type="datetime-local">, in the viewer's time zone.
LOCAL_TIME = "%Y-%m-%dT%H:%M"
SLOT_STEP_SECONDS = 900


def local_time_field(
    *, label: StrOrPromise, help_text: StrOrPromise = "", required: bool = True
) -> forms.DateTimeField:
    """Return a field for a time on the grid of quarters, in the viewer's time zone."""
    widget = forms.DateTimeInput(
        attrs={"type": "datetime-local", "step": SLOT_STEP_SECONDS}, format=LOCAL_TIME
    )
    return forms.DateTimeField(
        label=label,
        help_text=help_text,
        required=required,
        widget=widget,
        input_formats=[LOCAL_TIME, "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S"],
    )
