"""The daemon that runs on every server: Worker always, Chief by a fenced lease."""
