"""Files as tables: text, Parquet, Arrow and NumPy archives, opened and streamed."""
