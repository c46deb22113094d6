"""Seeds in cloud-init's forms: NoCloud and ConfigDrive. Pure.

Only settings that make sense on an appliance are read: name, addresses, password, keys, clock, and our own
``millrace:`` part, which wins. Anything else in a file (packages, commands) is named in a remark and not
done.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from appliance.errors import Problem, ValidationFailed
from appliance.firstboot import network_config
from appliance.firstboot.seed import HASH
from appliance.firstboot.yaml_text import mapping

NOCLOUD_ID = "nocloud"
"""Instance id if meta-data gives none (cloud-init has the same)."""
_ADMIN = "admin"
_KNOWN = frozenset(
    ["hostname", "fqdn", "password", "chpasswd", "ssh_authorized_keys", "users", "user", "ntp", "millrace"]
)
_HARMLESS = frozenset(
    ["manage_etc_hosts", "preserve_hostname", "prefer_fqdn_over_hostname", "ssh_pwauth", "package_upgrade",
     "package_update", "timezone", "locale", "disable_root", "create_hostname_file"]
)  # fmt: skip

Values = dict[str, Any]


def nocloud(files: Mapping[str, bytes]) -> tuple[Values, list[str]]:
    """Values and remarks of ``user-data``, ``meta-data`` and ``network-config``. Raises ValidationFailed."""
    meta = mapping(files.get("meta-data", b""), "meta-data")
    user, remarks = user_data(files.get("user-data", b""))
    network = mapping(files.get("network-config", b""), "network-config")
    network = network.get("network", network)
    if not isinstance(network, Mapping):
        raise _refused("network-config", "must be an object")
    values: Values = {"instance_id": str(meta.get("instance-id") or NOCLOUD_ID)}
    values |= _text(meta, "local-hostname", "hostname")
    values |= _meta_keys(meta.get("public-keys"))
    mac = user.get("management_mac")
    addresses: Values = {}
    if network:
        match network.get("version"):
            case 1:
                addresses, more = network_config.version_1(network, mac)
            case 2:
                addresses, more = network_config.version_2(network, mac)
            case other:
                raise _refused("network-config/version", f"{other!s:.20} is not 1 or 2")
        remarks += more
    return values | _given(addresses) | user, remarks


def config_drive(files: Mapping[str, bytes]) -> tuple[Values, list[str]]:
    """Values and remarks of OpenStack's ``meta_data.json``, ``network_data.json`` and ``user_data``.

    Raises ValidationFailed.
    """
    meta = _json(files.get("meta_data.json", b"{}"), "meta_data.json")
    user, remarks = user_data(files.get("user_data", b""))
    values: Values = {"instance_id": str(meta.get("uuid") or "config-drive")}
    values |= _text(meta, "hostname", "hostname")
    values |= _text(meta, "admin_pass", "admin_password")
    values |= _meta_keys(meta.get("public_keys"))
    if "network_data.json" in files:
        network = _json(files["network_data.json"], "network_data.json")
        addresses, more = network_config.openstack(network, user.get("management_mac"))
        values |= _given(addresses)
        remarks += more
    if {"admin_password", "admin_password_hash"} & set(user):
        values.pop("admin_password", None)
    return values | user, remarks


def user_data(data: bytes) -> tuple[Values, list[str]]:
    """Values and remarks of a ``#cloud-config``; of anything else nothing, with a remark."""
    if not data.strip():
        return {}, []
    if not data.lstrip().startswith((b"#cloud-config", b"millrace:")):
        return {}, ["user-data: only #cloud-config is read; scripts and archives are not run"]
    config = mapping(data, "user-data")
    values = _from_cloud_config(config)
    own = config.get("millrace", {})
    if own is None:
        own = {}
    if not isinstance(own, Mapping):
        raise _refused("user-data/millrace", "must be an object")
    if {"admin_password", "admin_password_hash"} & set(own):
        values.pop("admin_password", None)
        values.pop("admin_password_hash", None)
    other = sorted(str(key) for key in config if key not in _KNOWN | _HARMLESS)
    remarks = [f"user-data: not done by this appliance: {', '.join(other)[:200]}"] if other else []
    return values | {str(key): value for key, value in own.items()}, remarks


def own_form(data: bytes, where: str) -> Values:
    """Values of a file that has only our own part, as YAML or JSON. Raises ValidationFailed."""
    config = mapping(data, where)
    own = config.get("millrace", config)
    if not isinstance(own, Mapping):
        raise _refused(f"{where}/millrace", "must be an object")
    return {"instance_id": where} | {str(key): value for key, value in own.items()}


def _from_cloud_config(config: Mapping[str, Any]) -> Values:
    values: Values = {}
    values |= _text(config, "hostname", "hostname")
    values |= _text(config, "fqdn", "hostname")
    if isinstance(password := config.get("password"), str):
        values |= _password(password)
    keys = _keys(config.get("ssh_authorized_keys"), "user-data/ssh_authorized_keys")
    users = config.get("users")
    for user in users if isinstance(users, list) else []:
        # Templates name the distribution's own user; here there is one user, so its keys are meant for it.
        if isinstance(user, Mapping):
            keys += _keys(user.get("ssh_authorized_keys"), "user-data/users/ssh_authorized_keys")
            for field in ("passwd", "hashed_passwd", "plain_text_passwd"):
                if user.get("name") == _ADMIN and isinstance(user.get(field), str):
                    values |= _password(user[field])
    values |= _chpasswd(config.get("chpasswd"))
    if keys:
        values["admin_ssh_keys"] = keys
    ntp = config.get("ntp")
    if isinstance(ntp, Mapping):
        servers = [*(ntp.get("servers") or []), *(ntp.get("pools") or [])]
        values["ntp_servers"] = [str(server) for server in servers]
    return values


def _chpasswd(value: object) -> Values:
    if not isinstance(value, Mapping):
        return {}
    for user in value.get("users") or []:
        if isinstance(user, Mapping) and user.get("name") == _ADMIN and isinstance(user.get("password"), str):
            return _password(user["password"])
    listed = value.get("list")
    lines = listed if isinstance(listed, list) else str(listed or "").splitlines()
    for line in lines:
        name, _, password = str(line).partition(":")
        if name.strip() == _ADMIN and password:
            return _password(password)
    return {}


def _password(text: str) -> Values:
    """cloud-init accepts a hash or a password in the same place."""
    return {"admin_password_hash": text} if HASH.fullmatch(text) else {"admin_password": text}


def _meta_keys(value: object) -> Values:
    if isinstance(value, Mapping):
        value = list(value.values())
    keys = _keys(value, "meta-data/public-keys")
    return {"admin_ssh_keys": keys} if keys else {}


def _keys(value: object, where: str) -> list[str]:
    if value is None:
        return []
    if isinstance(value, str):
        value = value.splitlines()
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise _refused(where, "must be a list of keys")
    return [entry for entry in value if entry.strip()]


def _text(source: Mapping[str, Any], key: str, name: str) -> Values:
    value = source.get(key)
    return {name: value} if isinstance(value, str) and value else {}


def _given(values: Values) -> Values:
    """Without empty lists: they would hide what another file gave."""
    return {name: value for name, value in values.items() if value != []}


def _json(data: bytes, where: str) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise _refused(where, "is not JSON") from None
    if not isinstance(value, dict):
        raise _refused(where, "must be an object")
    return value


def _refused(where: str, message: str) -> ValidationFailed:
    return ValidationFailed([Problem(f"/{where}", message)])
