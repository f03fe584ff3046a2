"""What the simulated marketplaces sell: every item follows from its place and version alone."""

import hashlib
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

_COLOURS = ("Black", "Ivory", "Cobalt", "Çağla", "Rosé", "Grün", "深緑", "Amber", "Kırmızı", "Silver", "Teal")
_KINDS = ("Lamp", "Kettle", "Backpack", "Çaydanlık", "Chaise", "Schlüssel", "Mouse", "Tent", "Blender", "Ütü", "Rug")
_MAKERS = ("Norda", "Velik", "Ökolin", "Tamsu", "Ardent", "Pelagos", "Şimşek")
_EMOJI = ("🎁", "🔥", "👩‍👩‍👧", "🇹🇷", "✨", "🧿")
FIRST_NUMBER = 500_000
_CENT = Decimal("0.01")


class Item(NamedTuple):
    """One item, as its seller knows it; each marketplace shows it in its own way. Prices are in the shop's currency."""

    number: int
    group: int
    title: str
    sku: str
    barcode: str | None
    price: Decimal | None
    list_price: Decimal | None
    quantity: int | None
    offered: bool
    maker: str
    weight_kg: Decimal
    handling_days: int
    fragile: bool


@dataclass(frozen=True, slots=True)
class Maker:
    """Makes the items of one account; equal arguments make equal items, on every machine.

    Among any twenty neighbours are titles with emoji and over 512 characters, missing prices, barcodes and
    quantities, and prices that marketplaces write with separators.
    """

    seed: int
    marketplace_code: str
    account_ref: str

    def item(self, index: int, version: int = 0) -> Item:
        """The item at an index, which may be negative, in one of its versions, which differ in price and stock."""
        born = self._draw(index, 0)
        now = self._draw(index, version)
        price = _price(index, now)
        return Item(
            number=FIRST_NUMBER + index,
            group=(FIRST_NUMBER + index) // 4,
            title=_title(index, born),
            sku=f"{born[0] % 100:02d}-{FIRST_NUMBER + index}",
            barcode=None if index % 20 == 5 else f"00{int.from_bytes(born[1:6], 'big') % 10**11:011d}",
            price=price,
            list_price=None if price is None else (price * (100 + now[6] % 50) / 100).quantize(_CENT),
            quantity=None if index % 20 == 17 else now[7] * (now[8] % 8),
            offered=now[9] % 10 != 0,
            maker=_MAKERS[born[10] % len(_MAKERS)],
            weight_kg=Decimal(born[11] + 1).scaleb(-2),
            handling_days=born[12] % 14,
            fragile=born[13] % 2 == 0,
        )

    def _draw(self, index: int, version: int) -> bytes:
        place = f"{self.seed}|{self.marketplace_code}|{self.account_ref}|{index}|{version}"
        return hashlib.blake2b(place.encode(), digest_size=24).digest()


def _title(index: int, born: bytes) -> str:
    name = (
        f"{_MAKERS[born[10] % len(_MAKERS)]} {_COLOURS[born[14] % len(_COLOURS)]} "
        f"{_KINDS[born[15] % len(_KINDS)]} {born[16]}"
    )
    if index % 10 == 3:
        name = f"{_EMOJI[born[17] % len(_EMOJI)]} {name} {_EMOJI[born[18] % len(_EMOJI)]}"
    if index % 20 == 7:
        name = f"{name} · " * (1 + 520 // len(name) + born[19] % 4)
    return name


def _price(index: int, now: bytes) -> Decimal | None:
    if index % 20 == 11:
        return None
    cents = int.from_bytes(now[0:2], "big") + 99
    if index % 5 == 0:
        cents += 12_345_600
    return Decimal(cents // 100 if index % 20 == 13 else cents).scaleb(0 if index % 20 == 13 else -2)
