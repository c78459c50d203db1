# Django: migrate its own applications and a model of ours, work through the ORM, introspect.
import datetime
import decimal
import os
import uuid

import django
from django.conf import settings

settings.configure(
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "django.contrib.sessions", "shop"],
    DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "HOST": os.environ["PGHOST"], "PORT": os.environ["PGPORT"],
                           "USER": os.environ["PGUSER"], "NAME": os.environ["PGDATABASE"]}},
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField", USE_TZ=True, SECRET_KEY="x",
)
django.setup()

from django.core.management import call_command
from django.db import IntegrityError, connection, models, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Avg, Case, Count, Exists, F, OuterRef, Q, Subquery, Sum, Value, When, Window
from django.db.models.functions import Coalesce, Concat, ExtractYear, Lower, Rank, TruncMonth

call_command("migrate", verbosity=1, no_color=True)
executor = MigrationExecutor(connection)
apps = executor.loader.project_state([("shop", "0002_more")]).apps
Category, Product, Tag, User = (apps.get_model(*m) for m in (("shop", "Category"), ("shop", "Product"), ("shop", "Tag"), ("auth", "User")))

books = Category.objects.create(name="Books", short="books")
toys = Category.objects.create(name="Toys", short="toys")
utc = datetime.timezone.utc
for i in range(10):
    Product.objects.create(name=f"P{i}", price=decimal.Decimal(i) * 3 / 2, made=datetime.datetime(2020, 1 + i, 1, tzinfo=utc), day=datetime.date(2020, 1, 1 + i),
                           data={"n": i, "list": [i, None]}, key=uuid.UUID(int=i), took=datetime.timedelta(minutes=i), raw=bytes([i]), rank=i % 3,
                           address="10.0.0.1" if not connection.features.has_native_uuid_field else None, category=books if i % 2 else toys)
print(Product.objects.count(), Product.objects.aggregate(Sum("price"), Avg("price"), Count("id")))
p = Product.objects.get(name="P3")
print(p.price, p.made, p.day, p.data, p.key, p.took, bytes(p.raw), p.category.name, p.note)
print(list(Product.objects.filter(data__n__gte=7).values_list("name", flat=True).order_by("name")), Product.objects.filter(data__list__0=4).count(),
      Product.objects.filter(data__contains={"n": 5}).count(), Product.objects.filter(data__has_key="n").count())
print(list(Category.objects.annotate(n=Count("products"), s=Sum("products__price")).order_by("name").values_list("name", "n", "s")))
print(list(Product.objects.annotate(m=TruncMonth("made"), y=ExtractYear("made")).values_list("m", "y").order_by("m")[:2]))
print(list(Product.objects.annotate(r=Window(Rank(), partition_by=[F("category")], order_by=F("price").desc())).values_list("name", "r").order_by("name")[:4]))
print(list(Product.objects.filter(Q(name__icontains="p1") | Q(name__endswith="2") | Q(name__iregex="^p9$")).values_list("name", flat=True).order_by("-name")))
newest = Product.objects.filter(category=OuterRef("pk")).order_by("-made").values("name")[:1]
print(list(Category.objects.annotate(newest=Subquery(newest), has=Exists(Product.objects.filter(category=OuterRef("pk"), price__gt=13))).values_list("name", "newest", "has").order_by("name")))
print(list(Product.objects.annotate(k=Case(When(price__lt=5, then=Value("low")), default=Value("high"), output_field=models.CharField())).values("k").annotate(c=Count("id")).order_by("k")))
print(Product.objects.filter(name="P1").update(price=F("price") + 1, note=Concat(Lower("name"), Value("!"))), Product.objects.get(name="P1").note)
print(list(Product.objects.values_list("name", flat=True).filter(rank=0).union(Product.objects.values_list("name", flat=True).filter(rank=1)).order_by("name")))
a, b = Tag.objects.create(word="a"), Tag.objects.create(word="b")
p.tags.add(a, b)
p.tags.remove(a)
p.tags.set([a, b])
print(sorted(t.word for t in p.tags.all()), [x.name for x in Product.objects.prefetch_related("tags").filter(tags__word="a").distinct()])
Tag.objects.bulk_create([Tag(word=str(i)) for i in range(100)])
Tag.objects.bulk_create([Tag(id=a.id, word="again")], ignore_conflicts=True)
tags = list(Tag.objects.order_by("id")[:50])
for t in tags:
    t.word += "."
Tag.objects.bulk_update(tags, ["word"], batch_size=20)
print(Tag.objects.count(), Tag.objects.filter(word__endswith=".").count())
print(Category.objects.get_or_create(name="Books")[1], Category.objects.update_or_create(name="Food", defaults={"short": "f"})[1])
try:
    with transaction.atomic():
        Product.objects.create(name="bad", price=-1, category=books)
except IntegrityError as e:
    print(type(e.__cause__).__name__, str(e).splitlines()[0])
with transaction.atomic():
    try:
        with transaction.atomic():
            Category.objects.create(name="Books")
    except IntegrityError as e:
        print(type(e.__cause__).__name__)
    print(list(Product.objects.select_for_update(skip_locked=True, of=("self",)).filter(name="P5").values_list("name", flat=True)))
    sid = transaction.savepoint()
    Product.objects.all().delete()
    transaction.savepoint_rollback(sid)
print(Product.objects.count())
try:
    with transaction.atomic():
        Product.objects.create(name="x", price=1, category_id=999)
        print("the foreign key is checked at the end")
except IntegrityError as e:
    print(type(e.__cause__).__name__)
print(sum(x.rank for x in Product.objects.iterator(chunk_size=3)), Product.objects.in_bulk([p.id])[p.id].name, Product.objects.dates("day", "month").count())
User.objects.create(username="u")
print(toys.products.all().delete()[0], Product.objects.earliest("made").name, Product.objects.filter(day__range=("2020-01-02", "2020-01-05"), made__year=2020).count())

print("introspection")
with connection.cursor() as c:
    insp = connection.introspection
    print(sorted((t.name, t.type) for t in insp.get_table_list(c)))
    for table in ("shop_product", "shop_category", "shop_product_tags"):
        print(table, [(d.name, d.type_code, d.null_ok, d.default and d.default[:15], d.collation) for d in insp.get_table_description(c, table)])
        for k, v in sorted(insp.get_constraints(c, table).items()):
            print("  ", k.split("_")[-1] if "fk" in k else k, {x: y for x, y in sorted(v.items()) if x != "definition"})
        print("  ", insp.get_sequences(c, table), insp.get_relations(c, table), insp.get_primary_key_column(c, table))
call_command("inspectdb", "shop_product", no_color=True)
call_command("sqlsequencereset", "auth", no_color=True)
call_command("migrate", "shop", "0001_initial", verbosity=1, no_color=True)
call_command("migrate", "shop", "zero", verbosity=0)
call_command("flush", interactive=False, verbosity=0)
print(sorted(connection.introspection.table_names()))
