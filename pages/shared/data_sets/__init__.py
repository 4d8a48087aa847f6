"""Parts of the page Data sets: reading a file, importing it, what is stored and found."""
