"""The product list for staff, restricted to what the asking user's partner sells."""

from oscarapi.views.admin import product


class ProductAdminList(product.ProductAdminList):
    """Oscar lists the whole shop; here each partner's user sees the partner's own products, in a fixed order."""

    def get_queryset(self):
        """The products that the partner has in stock records, oldest first."""
        return super().get_queryset().filter(stockrecords__partner__users=self.request.user).order_by("pk")
