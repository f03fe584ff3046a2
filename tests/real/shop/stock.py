"""``python -m shop.stock PARTNERS PRODUCTS``: makes the shop's database and fills it, the same way each time.

Partner number n sells through user ``partner-n`` with password ``password-of-partner-n``. The products are chosen to
be awkward in the ways that real ones are: emoji and right-to-left titles, codes with leading zeros, prices with
cents, without a price, withdrawn ones.
"""

import sys
from decimal import Decimal

import django

django.setup()

from django.contrib.auth.models import Permission, User  # noqa: E402 - only after django.setup
from django.core.management import call_command  # noqa: E402
from django.db import transaction  # noqa: E402
from oscar.apps.catalogue.models import Product, ProductClass  # noqa: E402
from oscar.apps.partner.models import Partner, StockRecord  # noqa: E402

TITLES = (
    "Kettle ☕ 1,7 l",
    "Torch 🔦 “Çakmak”",
    "Family tent 👨‍👩‍👧‍👦 (4)",
    "مصباح مكتب",
    "ランプ 💡",
    'Bag <b>bold</b> & co; 100 % "linen"',
    "Nail file – 12 \\ 14 cm",
)


def price(number: int) -> Decimal | None:
    """Every 50th product has no price; the others cost between 0.01 and 99,999.99."""
    return None if number % 50 == 0 else Decimal(number * 7919 % 9_999_999 + 1) / 100


def fill_partner(number: int, products: int, product_class: ProductClass) -> None:
    """One partner with its user and its products."""
    user = User.objects.create_user(f"partner-{number}", password=f"password-of-partner-{number}", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_product"))
    partner = Partner.objects.create(name=f"Partner {number}", code=f"partner-{number}")
    partner.users.add(user)
    for index in range(products):
        serial = number * 100_000 + index
        product = Product.objects.create(
            product_class=product_class,
            upc=f"{serial:013}",
            title=f"{TITLES[index % len(TITLES)]} No. {index}",
            is_public=index % 40 != 0,
        )
        StockRecord.objects.create(
            product=product,
            partner=partner,
            partner_sku=f"{index:05}",
            price=price(serial),
            num_in_stock=index % 13,
        )


def main(partners: int, products: int) -> None:
    """Make the tables, then all partners in one transaction."""
    call_command("migrate", verbosity=0)
    with transaction.atomic():
        product_class = ProductClass.objects.create(name="Goods")
        for number in range(1, partners + 1):
            fill_partner(number, products, product_class)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
