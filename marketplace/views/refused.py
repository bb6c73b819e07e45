"""Show an operation's refusal beside the field that it names."""

from django import forms

from marketplace.operations.refusals import Refusal

# Operations speak of facts; forms split or rename some of them.
FIELD_OF = {"windows": "ends_at", "gpu_model": "gpu_model_slug", "ssh_public_key": "new_key"}


def add_refusal(form: forms.Form, refusal: Refusal) -> None:
    """Add the refusal to the form's field of that name, or above the form when it has none."""
    field = refusal.field if refusal.field in form.fields else FIELD_OF.get(refusal.field, "")
    form.add_error(field if field in form.fields else None, str(refusal.message))
