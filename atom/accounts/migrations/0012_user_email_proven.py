from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0011_audit_subject"),
    ]

    operations = [
        migrations.AddField(
            model_name="user",
            name="email_proven_at",
            field=models.DateTimeField(null=True),
        ),
    ]
