from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("labeling", "0002_left_out"),
    ]

    operations = [
        migrations.AddField(
            model_name="labeltask",
            name="where",
            field=models.TextField(blank=True, default=""),
        ),
        migrations.AddField(
            model_name="labeltask",
            name="planned_items",
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
    ]
