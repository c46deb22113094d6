"""Whether the router does what its document says: checks, the alarms they raise, and the log of both."""
