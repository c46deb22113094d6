"""The Debian packages of the image, by purpose."""

KERNEL_AND_BOOT = (
    # The generic kernel: the cloud kernel has no ixgbe, i40e or e1000.
    "linux-image-amd64",
    "initramfs-tools",
    "zstd",
    "busybox",
    "kmod",
    "udev",
    "fdisk",
    "e2fsprogs",
    "dosfstools",
)
SYSTEM = (
    "systemd",
    "systemd-sysv",
    "dbus",
    "libpam-systemd",
    "apparmor",
    "passwd",
    "login",
    "sudo",
    "openssh-server",
    "chrony",
    "nftables",
    "open-vm-tools",
    "qemu-guest-agent",
    "tzdata",
    "ca-certificates",
    "iproute2",
    "pciutils",
    "procps",
    "psmisc",
)
ROUTING = ("frr", "frr-pythontools", "ethtool", "dpdk")
WEB = ("postgresql", "redis-server", "nginx-light", "python3", "python3-venv")
OPERATOR = (
    "bash-completion",
    "iputils-ping",
    "less",
    "mtr-tiny",
    "openssh-client",
    "openssl",
    "tcpdump",
    "traceroute",
    "vim-tiny",
)
IMAGE = tuple(dict.fromkeys(KERNEL_AND_BOOT + SYSTEM + ROUTING + WEB + OPERATOR))
