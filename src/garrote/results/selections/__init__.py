"""What the user keeps: which variables, how sure that is, and what tables, pages and pictures tell."""
