"""What the server says of whatever is made with a token."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    """Adds the field."""

    dependencies = [("accounts", "0013_addresses_proven_before")]

    operations = [
        migrations.AddField(
            model_name="apitoken",
            name="made_by",
            field=models.TextField(blank=True, default=""),
        ),
    ]
