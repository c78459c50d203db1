# The tables that django_client.py works on, as they were at first.
import uuid

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    initial = True
    dependencies = [("auth", "__first__")]
    operations = [
        migrations.CreateModel("Category", [
            ("id", models.BigAutoField(primary_key=True)), ("name", models.CharField(max_length=30, unique=True)), ("slug", models.SlugField())]),
        migrations.CreateModel("Product", [
            ("id", models.BigAutoField(primary_key=True)), ("name", models.CharField(max_length=50, db_index=True)),
            ("price", models.DecimalField(max_digits=8, decimal_places=2)), ("made", models.DateTimeField(null=True)), ("day", models.DateField(null=True)),
            ("data", models.JSONField(default=dict)), ("key", models.UUIDField(default=uuid.uuid4)), ("active", models.BooleanField(default=True)),
            ("took", models.DurationField(null=True)), ("raw", models.BinaryField(null=True)), ("weight", models.FloatField(null=True)),
            ("rank", models.PositiveSmallIntegerField(default=0)), ("address", models.GenericIPAddressField(null=True)),
            ("category", models.ForeignKey("shop.Category", models.CASCADE, related_name="products"))]),
        migrations.AddConstraint("Product", models.CheckConstraint(check=Q(price__gte=0), name="price_not_negative")),
        migrations.AddConstraint("Product", models.UniqueConstraint(fields=["category", "name"], name="one_name", condition=Q(active=True))),
        migrations.AddIndex("Product", models.Index(fields=["-made", "price"], name="by_made")),
    ]
