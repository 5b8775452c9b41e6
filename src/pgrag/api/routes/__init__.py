"""Routes by resource; each calls functions of the database and shapes nothing itself."""
