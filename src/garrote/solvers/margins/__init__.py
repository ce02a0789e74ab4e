"""Support vector machines in the primal: losses with kinks, Newton steps, narrowing widths, gaps."""
