# Changes of every kind that migrations make.
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("shop", "0001_initial")]
    operations = [
        migrations.CreateModel("Tag", [("id", models.AutoField(primary_key=True)), ("word", models.TextField())]),
        migrations.AddField("Product", "tags", models.ManyToManyField("shop.Tag")),
        migrations.AddField("Product", "note", models.TextField(default="none")),
        migrations.AlterField("Product", "name", models.CharField(max_length=80, db_index=True)),
        migrations.AlterField("Product", "rank", models.BigIntegerField(default=1)),
        migrations.RenameField("Category", "slug", "short"),
        migrations.RemoveField("Product", "weight"),
        migrations.AddField("Product", "owner", models.ForeignKey("auth.User", models.SET_NULL, null=True)),
        migrations.AlterUniqueTogether("Tag", {("word", "id")}),
        migrations.RunSQL("CREATE VIEW cheap AS SELECT id, name FROM shop_product WHERE price < 10", "DROP VIEW cheap"),
        migrations.RunPython(lambda apps, editor: apps.get_model("shop", "Tag").objects.create(word="made by a migration"), migrations.RunPython.noop),
    ]
