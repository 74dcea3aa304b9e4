"""The standard instances of the field, recognised by content, with what is proven of them."""
