"""Calendars and freshness for lilbee."""
