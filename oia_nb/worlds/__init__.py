"Worlds: in files, from tables, drawn at random."
