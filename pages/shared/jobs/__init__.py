"""Parts of pages about jobs: the form that starts one, the list, details."""
