"""Parts of the page Items, and the item card, which other pages show too."""
