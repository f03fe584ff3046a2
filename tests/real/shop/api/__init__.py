"""Classes that django-oscar-api is told to use instead of its own, at the same places as there."""
