"""What tunnels to other routers have in common, whatever carries their packets."""
