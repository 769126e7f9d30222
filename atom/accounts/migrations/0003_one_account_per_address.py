from django.db import migrations
from django.db.models.functions import Lower

from atom.core.ids import uuid7


def clear_repeated_addresses(apps, schema_editor):
    """The oldest account keeps an address that several have; the audit trail says which lost it."""
    users = apps.get_model("accounts", "User").objects
    events = apps.get_model("accounts", "AuditEvent").objects
    seen = set()
    named = users.exclude(email="").annotate(address=Lower("email"))
    for user in named.order_by("date_joined", "pk").iterator():
        if user.address not in seen:
            seen.add(user.address)
            continue
        events.create(
            id=uuid7(),
            verb="user.email_cleared",
            object_type="user",
            object_id=str(user.pk),
            data={"name": user.username, "email": user.email},
        )
        users.filter(pk=user.pk).update(email="")


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_s3_key_pairs")]

    operations = [
        migrations.RunPython(clear_repeated_addresses, migrations.RunPython.noop, elidable=True)
    ]
