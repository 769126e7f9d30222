"""Every write of cleaning reports."""

from atom.cleaning.actions.progress import advance, open_reports
from atom.cleaning.actions.removal import Removal, request_removal
from atom.cleaning.actions.reports import cancel_report, start_report

__all__ = [
    "Removal",
    "advance",
    "cancel_report",
    "open_reports",
    "request_removal",
    "start_report",
]
