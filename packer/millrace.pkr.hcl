# The image build. No virtual machine is started: the tree is made from Debian packages at the builder's own speed
# and written to a disk image, so the build needs neither KVM nor nested virtualisation. `make ova` runs this with
# Packer 1.6.6 (Debian 12) or newer, from the repository's root.

variable "vpp_source" {
  type        = string
  default     = "fdio"
  description = "Where VPP comes from: fdio, dir:PATH or none."
}

variable "version" {
  type        = string
  default     = ""
  description = "The image's version; empty takes pyproject.toml's."
}

variable "debian_mirror" {
  type        = string
  default     = ""
  description = "URI of a Debian archive or snapshot; empty takes the builder's own."
}

variable "debian_security_mirror" {
  type        = string
  default     = ""
  description = "The same for the security archive."
}

variable "repository" {
  type        = string
  default     = "."
  description = "The checkout."
}

source "null" "image" {
  communicator = "none"
}

locals {
  settings = [
    "VPP_SOURCE=${var.vpp_source}",
    "MILLRACE_VERSION=${var.version}",
    "DEBIAN_MIRROR=${var.debian_mirror}",
    "DEBIAN_SECURITY_MIRROR=${var.debian_security_mirror}",
    "PYTHONDONTWRITEBYTECODE=1",
    "PYTHONUNBUFFERED=1",
  ]
  stage = "cd '${var.repository}' && .venv/bin/python -m packer.image"
}

build {
  sources = ["source.null.image"]

  # What the build needs, and Debian 13's disk tools and QEMU.
  provisioner "shell-local" {
    environment_vars = local.settings
    inline           = ["${local.stage} check tools"]
  }

  # Debian packages, then VPP's.
  provisioner "shell-local" {
    environment_vars = local.settings
    inline           = ["${local.stage} base vpp"]
  }

  # The appliance's code, files, accounts and units.
  provisioner "shell-local" {
    environment_vars = local.settings
    inline           = ["${local.stage} code system"]
  }

  # Disk, OVA, descriptors, upgrade file, checksums.
  provisioner "shell-local" {
    environment_vars = local.settings
    inline           = ["${local.stage} disk ova sums tidy"]
  }
}
