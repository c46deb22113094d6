from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("changes", "0003_closed_change_sets"),
    ]

    operations = [
        migrations.AddField(
            model_name="changeset",
            name="base_digest",
            field=models.CharField(blank=True, db_default="", max_length=64),
        ),
    ]
