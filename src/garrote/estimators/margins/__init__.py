"""Support vector machines as estimators, trained in the primal by smoothing, with a duality gap."""
