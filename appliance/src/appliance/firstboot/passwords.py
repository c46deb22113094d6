"""The password of admin, which the host and the first boot of the web page share."""

from __future__ import annotations

from appliance.engine import durable
from appliance.errors import Problem, ValidationFailed
from appliance.firstboot import host_files
from appliance.firstboot.crypt import hash_password
from appliance.firstboot.host_files import HostFile
from appliance.firstboot.instance import Instance, load
from appliance.firstboot.layout import Layout
from appliance.firstboot.placing import put
from appliance.firstboot.seed import HASH, MIN_PASSWORD


def keep_changed_password(layout: Layout) -> bool:
    """Keep what passwd(1) wrote: /etc is rebuilt at every boot. True when there was a change.

    A locked account (``!`` before the hash) is not kept: after a reboot admin can sign in again.
    """
    instance = load(layout.instance.read_bytes())
    hashed = host_files.shadow_hash((layout.etc / "shadow").read_text())
    if hashed is None or hashed == instance.password_hash or not HASH.fullmatch(hashed):
        return False
    _keep(layout, instance, hashed)
    return True


def set_password(layout: Layout, password: str) -> None:
    """Give admin a new password on this host, now and after boots. Raises ValidationFailed, OSError."""
    if len(password) < MIN_PASSWORD or len(password.encode()) > 256 or not password.isprintable():
        raise ValidationFailed(
            [Problem("/password", f"has to have {MIN_PASSWORD} to 256 printable characters")]
        )
    instance = load(layout.instance.read_bytes())
    hashed = hash_password(password)
    _keep(layout, instance, hashed)
    shadow = layout.etc / "shadow"
    put(
        layout.root, HostFile("etc/shadow", host_files.shadow(shadow.read_text(), hashed), 0o640), like=shadow
    )


def _keep(layout: Layout, instance: Instance, hashed: str) -> None:
    changed = instance.model_copy(update={"password_hash": hashed, "awaits_seed": None})
    durable.write(layout.instance, changed.model_dump_json().encode())
    layout.generated_password.unlink(missing_ok=True)
