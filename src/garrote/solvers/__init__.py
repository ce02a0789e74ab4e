"""The loops, one idea a file."""
