"""The password that a router generates for its first start if its seed has none."""

from __future__ import annotations

from appliance.firstboot.layout import Layout


def shown_password(layout: Layout) -> str | None:
    """The generated password, while nobody has changed it."""
    if layout.web_password_changed.exists():
        layout.generated_password.unlink(missing_ok=True)
        return None
    try:
        return layout.generated_password.read_text().strip() or None
    except FileNotFoundError:
        return None
