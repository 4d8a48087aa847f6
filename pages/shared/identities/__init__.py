"""Parts of the page Identity pairs: what is asked for, tables and figures, single pairs."""
