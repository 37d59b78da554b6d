"""One module per noun: parse, call the library, hand the value to render/."""
