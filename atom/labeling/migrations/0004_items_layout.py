from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("labeling", "0003_question_and_filling"),
    ]

    operations = [
        migrations.AddField(
            model_name="labeltask",
            name="items_layout",
            field=models.CharField(blank=True, default="", max_length=64),
        ),
    ]
