"""Several responses at once: evidences of models that all share, walks over these, single effects."""
