"""``python -m shop.inventory``: prints what the shop's own database holds, as JSON, by partner code.

Read from the tables, so that it depends on nothing that the API does with the data.
"""

import json
import sys

import django

django.setup()

from oscar.apps.partner.models import StockRecord  # noqa: E402 - only after django.setup

COLUMNS = {
    "id": "product__pk",
    "upc": "product__upc",
    "title": "product__title",
    "slug": "product__slug",
    "structure": "product__structure",
    "is_public": "product__is_public",
    "sku": "partner_sku",
    "price": "price",
    "currency": "price_currency",
    "quantity": "num_in_stock",
}


def inventory() -> dict[str, list[dict[str, object]]]:
    """Each partner's products; prices as text, exact."""
    partners: dict[str, list[dict[str, object]]] = {}
    for record in StockRecord.objects.order_by("pk").values("partner__code", *COLUMNS.values()):
        row = {name: record[column] for name, column in COLUMNS.items()}
        row["price"] = None if row["price"] is None else str(row["price"])
        partners.setdefault(record["partner__code"], []).append(row)
    return partners


if __name__ == "__main__":
    json.dump(inventory(), sys.stdout)
