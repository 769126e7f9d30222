"""Failures of webhooks, one class each."""

from __future__ import annotations

from atom.core.errors import AlreadyExists, Conflict, NotFound


class WebhookNameTaken(AlreadyExists):
    """The project has a webhook of this name."""

    code = "webhook_name_taken"
    title = "The project has a webhook of that name."
    action = "Choose another name."


class WebhookNotFound(NotFound):
    """There is no such webhook in the project."""

    code = "webhook_not_found"
    title = "The project has no such webhook."
    action = "List the project's webhooks and take an id from there."


class TooManyWebhooks(Conflict):
    """A project has as many webhooks as it may."""

    code = "too_many_webhooks"
    title = "The project has as many webhooks as it may."
    action = "Delete one that is no longer needed, or have one receiver hand events on."


class WebhookOff(Conflict):
    """A webhook that is switched off sends nothing."""

    code = "webhook_off"
    title = "The webhook is switched off."
    action = "Switch it on first."


class DeliveryPending(Conflict):
    """A delivery is still being tried."""

    code = "delivery_pending"
    title = "The delivery is still being tried."
    action = "Wait until it has ended; then it can be sent again."
