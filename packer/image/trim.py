"""Reduces the tree: removes drivers and data that no virtual router uses."""

from pathlib import Path

from packer.image.progress import step
from packer.image.root_tree import kernel_version, remove_matching

# Below /usr/lib/modules/VERSION/kernel. Drivers of physical network cards stay: VMs are given such cards.
_MODULES = (
    "sound",
    "drivers/gpu",
    "drivers/media",
    "drivers/staging",
    "drivers/iio",
    "drivers/infiniband/ulp",
    "drivers/isdn",
    "drivers/bluetooth",
    "drivers/nfc",
    "drivers/mmc",
    "drivers/memstick",
    "drivers/pcmcia",
    "drivers/parport",
    "drivers/firewire",
    "drivers/gnss",
    "drivers/leds",
    "drivers/hwmon",
    "drivers/power",
    "drivers/thunderbolt",
    "drivers/accel",
    "drivers/input/joystick",
    "drivers/input/touchscreen",
    "drivers/input/tablet",
    "drivers/net/wireless",
    "drivers/net/can",
    "drivers/net/wwan",
    "drivers/net/hamradio",
    "drivers/net/arcnet",
    "drivers/net/ieee802154",
    "drivers/net/usb",
    "drivers/mtd",
    "drivers/w1",
    "drivers/comedi",
    "drivers/usb/gadget",
    "drivers/usb/serial",
    "drivers/platform",
    "fs/ocfs2",
    "fs/gfs2",
    "fs/ceph",
    "fs/xfs",
    "fs/btrfs",
    "fs/bcachefs",
    "fs/f2fs",
    "fs/jfs",
    "fs/nilfs2",
    "fs/reiserfs",
    "fs/smb",
    "fs/nfs",
    "fs/nfsd",
    "fs/afs",
    "fs/coda",
    "fs/orangefs",
    "fs/ubifs",
    "fs/jffs2",
    "fs/ntfs3",
    "fs/zonefs",
    "net/bluetooth",
    "net/mac80211",
    "net/wireless",
    "net/nfc",
    "net/can",
    "net/ieee802154",
    "net/mac802154",
    "net/ceph",
    "net/sunrpc",
    "net/rxrpc",
    "net/tipc",
    "net/ax25",
    "net/netrom",
    "net/rose",
    "net/appletalk",
    "net/batman-adv",
)

_FILES = (
    "usr/share/man/*",
    "usr/share/info/*",
    "usr/share/locale/*",
    "usr/share/i18n/*",
    "usr/share/bug",
    "usr/share/lintian",
    "usr/share/vim/vim*/doc",
    "usr/share/postgresql/*/man",
    "usr/lib/python3/dist-packages/*/tests",
    "usr/lib/python3.*/test",
    "usr/lib/python3.*/idlelib",
    "usr/lib/python3.*/turtledemo",
    "usr/lib/python3.*/ensurepip",
    "usr/share/python-wheels",
    "boot/config-*",
    "boot/System.map-*",
)


def superfluous_modules(dependencies: str, folders: tuple[str, ...] = _MODULES) -> list[str]:
    """The modules below `folders` that no other module needs, from the text of modules.dep."""
    needs: dict[str, list[str]] = {}
    for line in dependencies.splitlines():
        module, _, others = line.partition(":")
        needs[module] = others.split()
    unwanted = {module for module in needs if module.startswith(tuple(f"kernel/{name}/" for name in folders))}
    # modules.dep lists the dependencies of a module transitively.
    needed = {other for module, others in needs.items() if module not in unwanted for other in others}
    return sorted(unwanted - needed)


def trim(root: Path) -> None:
    """Delete the files that the image does not need; licences stay."""
    with step("trimming"):
        version = kernel_version(root)
        modules = root / "usr/lib/modules" / version
        for name in superfluous_modules((modules / "modules.dep").read_text()):
            (modules / name).unlink()
        remove_matching(root, _FILES)
