"""The database itself refuses to change or delete audit entries."""

from django.db import migrations

TABLE = "accounts_auditentry"

POSTGRES = [
    "CREATE FUNCTION audit_append_only() RETURNS trigger LANGUAGE plpgsql AS $$ "
    "BEGIN RAISE EXCEPTION 'audit entries are append-only'; END $$",
    f"CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE ON {TABLE} "
    "FOR EACH ROW EXECUTE FUNCTION audit_append_only()",
]
SQLITE = [
    f"CREATE TRIGGER audit_no_{event} BEFORE {event} ON {TABLE} "
    "BEGIN SELECT RAISE(ABORT, 'audit entries are append-only'); END"
    for event in ("UPDATE", "DELETE")
]


def forwards(apps, schema_editor):  # noqa: ARG001 - Django's signature
    for statement in POSTGRES if schema_editor.connection.vendor == "postgresql" else SQLITE:
        schema_editor.execute(statement)


def backwards(apps, schema_editor):  # noqa: ARG001 - Django's signature
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(f"DROP TRIGGER audit_append_only ON {TABLE}")
        schema_editor.execute("DROP FUNCTION audit_append_only()")
    else:
        for event in ("UPDATE", "DELETE"):
            schema_editor.execute(f"DROP TRIGGER audit_no_{event}")


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial")]

    operations = [migrations.RunPython(forwards, backwards)]
