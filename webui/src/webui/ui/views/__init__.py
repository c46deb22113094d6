"""One module a page family. A view asks services, puts the answers into a template, and does nothing else."""
