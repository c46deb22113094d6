"""Builds the appliance's disk image from Debian packages: root tree, boot loader, disk, artefacts."""
