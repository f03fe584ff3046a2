"""The protocol's envelopes, one module per noun. Unknown members are refused, numbers are not guessed from text."""
