"""Parts of the pages of the audit: Languages, Noise floor, Shift lab, Carry-over."""
