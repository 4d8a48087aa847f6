"""Parts of pages about heads: what is chosen, drawn, said and computed about axes."""
