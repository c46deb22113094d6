"""The logs of the router's programs: read from the end, in bounded pages, with secrets redacted."""
