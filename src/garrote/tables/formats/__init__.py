"""Files as tables: text, workbooks, Parquet, Arrow and NumPy archives, opened and streamed."""
