"""The simulated marketplaces: each its own addresses, authentication, paging and way of writing a listing."""
