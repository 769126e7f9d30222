from django.db import migrations
from django.db.models import F, OuterRef, Subquery


def note_what_was_proven(apps, schema_editor):
    """Addresses from a provider of single sign-on, and those whose invitation was mailed."""
    users = apps.get_model("accounts", "User").objects
    invitations = apps.get_model("accounts", "Invitation").objects
    open_ones = users.exclude(email="").filter(email_proven_at=None)
    # Without a password: the account was made from what the provider said.
    vouched = open_ones.filter(identities__isnull=False, password__startswith="!")
    users.filter(pk__in=list(vouched.values_list("pk", flat=True))).update(
        email_proven_at=F("date_joined")
    )
    mailed = invitations.filter(
        accepted_by=OuterRef("pk"), mailed_at__isnull=False, email__iexact=OuterRef("email")
    ).order_by("accepted_at")
    answered = open_ones.annotate(answered_at=Subquery(mailed.values("accepted_at")[:1]))
    for pk, answered_at in answered.exclude(answered_at=None).values_list("pk", "answered_at"):
        users.filter(pk=pk).update(email_proven_at=answered_at)


class Migration(migrations.Migration):
    dependencies = [("accounts", "0012_user_email_proven")]

    operations = [
        migrations.RunPython(note_what_was_proven, migrations.RunPython.noop, elidable=True)
    ]
