"""How much annotations of variables raise their odds of inclusion, learned beside the posterior."""
