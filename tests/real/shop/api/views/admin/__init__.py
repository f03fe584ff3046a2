"""Views for staff that differ here."""
