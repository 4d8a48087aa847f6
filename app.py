"""The router: which pages there are, nothing else."""
