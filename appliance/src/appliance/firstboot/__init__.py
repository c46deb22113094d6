"""First boot: seeds of the hypervisor, this instance's own secrets, and the host files that follow from them.

``/etc`` is rebuilt at every boot, so this runs at every boot: decisions made once are kept in
``/data/millrace/instance.json``, and the files are written from it.
"""
