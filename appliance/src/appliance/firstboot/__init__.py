"""First boot: seeds of the hypervisor, this instance's own secrets, and the host files that follow from them.

``/etc`` is rebuilt at every boot, so this runs at every boot: what was decided once is kept in
``/data/millrace/instance.json``, and the files are written from it.
"""
