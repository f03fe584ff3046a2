"""What must be true of the database at any moment, and of what was said to and by the coordinators.

``checker.violations(connection)`` judges everything in one consistent snapshot; ``watching.watching(connect)`` judges
what is active every 50 ms while its block runs, and that nothing moves back between two looks.
"""
