"""What people are told, how they want to be, and from where they signed in."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import atom.core.ids


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0010_external_identities"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Notification",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=atom.core.ids.uuid7,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("kind", models.CharField(max_length=60)),
                ("event_id", models.UUIDField()),
                ("subject", models.CharField(blank=True, max_length=100)),
                ("data", models.JSONField(default=dict)),
                ("count", models.PositiveIntegerField(default=1)),
                ("is_grouped", models.BooleanField(default=False)),
                ("at", models.DateTimeField()),
                ("in_app", models.BooleanField(default=True)),
                ("read_at", models.DateTimeField(null=True)),
                ("mail_at", models.DateTimeField(null=True)),
                ("mail_tries", models.PositiveSmallIntegerField(default=0)),
                ("mailed_at", models.DateTimeField(null=True)),
                (
                    "project",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notifications",
                        to="accounts.project",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notifications",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["user", "-at", "-id"], name="notification_newest"),
                    models.Index(
                        condition=models.Q(("read_at", None)),
                        fields=["user"],
                        name="notification_unread",
                    ),
                    models.Index(fields=["user", "subject"], name="notification_subject"),
                    models.Index(
                        condition=models.Q(("mail_at__isnull", False)),
                        fields=["mail_at"],
                        name="notification_mail",
                    ),
                    models.Index(fields=["at"], name="notification_at"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("user", "event_id"), name="notification_once"),
                    models.UniqueConstraint(
                        condition=models.Q(("is_grouped", True), ("read_at", None)),
                        fields=("user", "kind", "subject"),
                        name="notification_grouped",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Preference",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=atom.core.ids.uuid7,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("topic", models.CharField(max_length=20)),
                ("in_app", models.BooleanField()),
                ("mail", models.CharField(max_length=10)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notification_preferences",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("user", "topic"), name="preference_once"),
                    models.CheckConstraint(
                        condition=models.Q(("mail__in", ("now", "daily", "never"))),
                        name="preference_mail",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SeenBrowser",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=atom.core.ids.uuid7,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("fingerprint", models.CharField(max_length=64)),
                ("seen_at", models.DateTimeField()),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="seen_browsers",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("user", "fingerprint"), name="browser_once")
                ],
            },
        ),
    ]
