"""Files written whole or not at all, arrays in zip files, numbers as JSON can hold them."""
