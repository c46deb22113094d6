"""VPP as the data plane, with its mirrors in the kernel for FRR."""
