"""What users hand over, checked before any work."""
