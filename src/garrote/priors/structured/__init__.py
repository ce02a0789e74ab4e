"""Laws of inclusion in which variables hang together: by blocks, along chains and graphs, by parents."""
