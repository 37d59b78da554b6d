"""A REST server over a lilbee library."""
