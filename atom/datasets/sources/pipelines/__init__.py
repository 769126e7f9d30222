"""Places that objects are registered from without being copied: buckets, folders, lists of URLs.

No ORM here: workers and the gateway use it alike. `opening.open_source` gives a reader; every
address is checked (`addresses`) before anything connects to it, and no redirect is followed.
"""
