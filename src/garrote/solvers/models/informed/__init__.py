"""What the informed walk is made of: rates of its steps, and moves of many variables at once."""
