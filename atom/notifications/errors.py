"""Failures of notifications, one class each."""

from __future__ import annotations

from atom.core.errors import Conflict, NotFound


class NotificationNotFound(NotFound):
    """The person has no such notification."""

    code = "notification_not_found"
    title = "You have no such notification."
    action = "List your notifications and take an id from there; they are kept for 90 days."


class TopicFixed(Conflict):
    """Notifications about the safety of an account cannot be switched off."""

    code = "topic_fixed"
    title = "You are always notified of the safety of your account."
    action = "Leave this topic out; the others can be changed."


class UnsubscribeLinkInvalid(NotFound):
    """A link out of a mail was changed, or its account is gone."""

    code = "unsubscribe_link_invalid"
    title = "This link does not work."
    action = "Use the whole link of the newest mail, or sign in and change your settings."
