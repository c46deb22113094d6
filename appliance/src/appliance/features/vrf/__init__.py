"""VRFs: routing tables of their own."""
