"""Upgrades: a signed image goes into the other slot, is booted once, and stays when it is healthy.

The disk has two system slots, ``a`` and ``b``, and a data partition that both use. GRUB boots the slot
``good``, or once the slot ``try``; see docs/upgrade.md.
"""
