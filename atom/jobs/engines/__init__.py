"""Pure functions of the jobs app: no Django, no Celery, no network."""
