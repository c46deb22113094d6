from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("changes", "0002_commit_request")]

    operations = [
        migrations.AddField("changeset", "changes", models.JSONField(default=list, db_default=[])),
        migrations.AddField("changeset", "note", models.CharField(blank=True, db_default="", max_length=200)),
    ]
