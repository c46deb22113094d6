"""Old audit entries may be deleted if the horizon names them first; everything else is refused as before."""

from django.db import migrations, models

TABLE = "accounts_auditentry"
HORIZON = "(SELECT COALESCE(MAX(up_to), 0) FROM accounts_audithorizon)"
POSTGRES = (
    "CREATE OR REPLACE FUNCTION audit_append_only() RETURNS trigger LANGUAGE plpgsql AS $$ "
    f"BEGIN IF TG_OP = 'DELETE' AND OLD.id <= {HORIZON} THEN RETURN OLD; END IF; "
    "RAISE EXCEPTION 'audit entries are append-only'; END $$"
)
POSTGRES_BEFORE = (
    "CREATE OR REPLACE FUNCTION audit_append_only() RETURNS trigger LANGUAGE plpgsql AS $$ "
    "BEGIN RAISE EXCEPTION 'audit entries are append-only'; END $$"
)
_SQLITE = "CREATE TRIGGER audit_no_DELETE BEFORE DELETE ON {table} {when}BEGIN SELECT RAISE(ABORT, 'audit entries are append-only'); END"


def forwards(apps, schema_editor):  # noqa: ARG001 - Django's signature
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(POSTGRES)
    else:
        schema_editor.execute("DROP TRIGGER audit_no_DELETE")
        schema_editor.execute(_SQLITE.format(table=TABLE, when=f"WHEN OLD.id > {HORIZON} "))


def backwards(apps, schema_editor):  # noqa: ARG001 - Django's signature
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(POSTGRES_BEFORE)
    else:
        schema_editor.execute("DROP TRIGGER audit_no_DELETE")
        schema_editor.execute(_SQLITE.format(table=TABLE, when=""))


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_audit_append_only")]

    operations = [
        migrations.CreateModel(
            name="AuditHorizon",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("up_to", models.PositiveBigIntegerField(default=0)),
            ],
        ),
        migrations.RunPython(forwards, backwards),
    ]
