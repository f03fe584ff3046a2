"""Simulated marketplaces over real HTTP, with catalogues that follow from a seed."""
