"""Installing and demonstrating the cluster."""
