import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import atom.core.ids


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0008_audit_filters"),
    ]

    operations = [
        migrations.CreateModel(
            name="RecoveryCode",
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
                ("code_hash", models.CharField(max_length=64)),
                ("used_at", models.DateTimeField(null=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="recovery_codes",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("user", "code_hash"), name="recovery_code_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="SecondFactor",
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
                ("encrypted_secret", models.TextField(blank=True)),
                ("encrypted_pending", models.TextField(blank=True)),
                ("confirmed_at", models.DateTimeField(null=True)),
                ("last_step", models.BigIntegerField(default=0)),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="second_factor",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("confirmed_at", None),
                            models.Q(("encrypted_secret", ""), _negated=True),
                            _connector="XOR",
                        ),
                        name="second_factor_confirmed",
                    )
                ],
            },
        ),
    ]
