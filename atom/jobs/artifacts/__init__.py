"""Files that a run leaves: upload, verification, folders, previews and retention.

It writes artifacts and their objects. It knows neither placement nor attempts.
"""
