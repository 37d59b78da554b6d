"""A page for browsers and a REST server over a lilbee library."""
