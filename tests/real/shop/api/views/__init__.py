"""Views of the API that differ here."""
