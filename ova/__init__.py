"""The image in the forms of virtualisation platforms: OVA, libvirt domain, VNF descriptors.

``python -m ova`` builds them from a finished disk and checks an OVA. It uses Python's standard library and
``cryptography``; it runs from the root of the repository.
"""
