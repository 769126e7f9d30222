"""Links that show one run to people without an account.

It writes shares and reads the run that a link opens.
"""
