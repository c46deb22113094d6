"""Forms made from the document's JSON schema: one mechanism for all, so a new field appears automatically."""

from webui.ui.forms.bound import Bound
from webui.ui.forms.object_form import ObjectForm

__all__ = ["Bound", "ObjectForm"]
