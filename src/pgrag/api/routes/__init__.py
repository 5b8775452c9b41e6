"""Routes by resource; each calls functions of the database and leaves rows as they are."""
