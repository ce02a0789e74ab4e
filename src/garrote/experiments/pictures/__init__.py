"""Murphy's pictures made again: filters of natural images by six models, and an inpainted photograph."""
