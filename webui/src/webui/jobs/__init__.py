"""Work that takes a while: the request is answered at once with a job that can be followed and cancelled."""
