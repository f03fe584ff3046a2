"""A django-oscar shop for the cluster to crawl, with django-oscar-api as its API; both as they come from PyPI.

Ours are these few things: the settings, the products that ``stock`` puts in, the restriction of the product list to
the partner of the user who asks (``api/``), the window of the throttle, and ``inventory``, which reads the shop's own
database. They run in the shop's environment, never in this project's.
"""
