from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0010_external_identities"),
    ]

    operations = [
        migrations.AddField(
            model_name="auditevent",
            name="subject_id",
            field=models.UUIDField(null=True),
        ),
        migrations.AddIndex(
            model_name="auditevent",
            index=models.Index(
                fields=["subject_id", "-at", "-id"],
                condition=models.Q(("subject_id__isnull", False)),
                name="audit_subject",
            ),
        ),
    ]
