"""Which kernel modules are removed."""

from packer.image.trim import superfluous_modules

MODULES = """\
kernel/drivers/net/ethernet/ixgbe.ko.xz: kernel/drivers/hwmon/hwmon.ko.xz kernel/drivers/mdio.ko.xz
kernel/drivers/mdio.ko.xz:
kernel/drivers/hwmon/hwmon.ko.xz:
kernel/drivers/hwmon/lm75.ko.xz: kernel/drivers/hwmon/hwmon.ko.xz
kernel/drivers/hwmonitor.ko.xz:
"""


def test_what_a_kept_module_needs_is_kept() -> None:
    """A network card's driver needs hwmon.ko, which is in a removed folder."""
    assert superfluous_modules(MODULES, ("drivers/hwmon",)) == ["kernel/drivers/hwmon/lm75.ko.xz"]
