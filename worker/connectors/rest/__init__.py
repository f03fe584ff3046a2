"""The declarative connector: a marketplace with a plain REST listing call, told in one small file."""
