"""The words of time expressions, as patterns over folded text in which a blank is one blank."""

from __future__ import annotations

NUMBERS = {
    name: number
    for number, names in enumerate(
        (
            "two zwei deux dos", "three drei trois tres", "four vier quatre cuatro", "five fünf cinq cinco",
            "six sechs seis", "seven sieben sept siete", "eight acht huit ocho", "nine neun neuf nueve",
            "ten zehn dix diez", "eleven elf onze once", "twelve zwölf douze doce",
        ),
        start=2,
    )
    for name in names.split()
}  # fmt: skip

_MONTHS = (
    "january jan januar jänner jän janvier janv enero ene",
    "february feb februar février févr fevrier febrero",
    "march mar märz mär maerz mars marzo",
    "april apr avril avr abril abr",
    "may mai mayo",
    "june jun juni juin junio",
    "july jul juli juillet juil julio",
    "august aug août aout agosto ago",
    "september sep sept septembre septiembre",
    "october oct oktober okt octobre octubre",
    "november nov novembre noviembre",
    "december dec dezember dez décembre déc decembre diciembre dic",
)
MONTHS = {name: number for number, names in enumerate(_MONTHS, start=1) for name in names.split()}

UNITS = {
    "day": "days?|tage?n?|jours?|días?|dias?",
    "week": "weeks?|wochen?|semaines?|semanas?",
    "month": "months?|monate?n?|mois|mes|meses",
    "year": "years?|jahre?n?|ans?|années?|años?",
}

_LAST_DE = r"(?:letzte|vergangene|vorige)[nmrs]?"
RELATIVE = {
    "day 0": r"today(?:'s)?|heute|aujourd'hui|hoy",
    "day 1": r"yesterday(?:'s)?|gestern|hier|ayer",
    "week 0": r"this week(?:'s)?|diese[rn]? woche|cette semaine|esta semana",
    "week 1": rf"(?:last|previous) week(?:'s)?|{_LAST_DE} woche|(?:la )?semaine (?:dernière|passée)"
    r"|(?:la )?semana pasada",
    "month 0": r"this month(?:'s)?|diese[nms] monats?|ce mois(?:-ci)?|este mes",
    "month 1": rf"(?:last|previous) month(?:'s)?|{_LAST_DE} monats?|(?:le )?mois (?:dernier|passé)|(?:el )?mes pasado",
    "year 0": r"this year(?:'s)?|diese[ms] jahre?s?|cette année|este año",
    "year 1": rf"(?:last|previous) year(?:'s)?|{_LAST_DE} jahre?s?|(?:l'|l' )?an(?:née)? (?:dernière|dernier|passée)"
    r"|(?:el )?año pasado",
}
"""Words by what they mean: a unit, and how many of them before this one."""

_COUNT = rf"([0-9]{{1,4}}|{'|'.join(NUMBERS)})"
_UNIT = "|".join(UNITS.values())
COUNTED = (
    rf"(?:last|past|previous|{_LAST_DE}) {_COUNT} (?:{_UNIT})"
    rf"|(?:the )?past (?:week|month|year|day)"
    rf"|(?:les |ces )?{_COUNT} derni(?:ers|ères) (?:{_UNIT})"
    rf"|(?:los |las )?últim[oa]s {_COUNT} (?:{_UNIT})"
)
"""The last so many days, weeks, months or years; the number is in one of the groups, or it is one."""

RECENT = "recent(?:ly)?|latest|newest|neueste[nrms]?|kürzlich|récente?s?|récemment|recientes?|recientemente"
"""Words that only say that newer is better."""

AHEAD = (
    r"[0-9]{4}\b|today|yesterday|this\s+(?:week|month|year)|(?:last|past|previous)\s+\w|recent|latest|newest"
    r"|heute|gestern|diese[rnms]?\s+(?:woche|monat|jahr)|(?:letzte|vergangene|vorige)[nmrs]?\s+\w|neueste|kürzlich"
    r"|aujourd|hier|cette\s+(?:semaine|année)|ce\s+mois|derni[eè]r|passée?|récem|récent"
    r"|hoy|ayer|est[ea]\s+(?:semana|mes|año)|(?:semana|mes|año)\s+pasad|últim[oa]s\s+\w|recient"
)
"""What every time expression holds some of."""

ONLY_IN = {"hier": "fr", "ayer": "es"}
"""Words that mean something else, or are a name, in other languages."""

ALONE = {
    "in": "within", "on": "within", "during": "within", "dated": "within", "from": "within",
    "im": "within", "am": "within", "vom": "within", "en": "within", "le": "within", "du": "within",
    "el": "within", "del": "within",
    "since": "since", "seit": "since", "ab": "since", "depuis": "since", "desde": "since",
    "after": "after", "nach": "after", "après": "after", "después de": "after", "después del": "after",
    "before": "before", "vor": "before", "avant": "before", "antes de": "before", "antes del": "before",
    "until": "until", "till": "until", "up to": "until", "bis": "until", "jusqu'à": "until", "jusqu'en": "until",
    "hasta": "until",
}  # fmt: skip
"""What a word before one date says of it."""

OPENS = {
    "between": ("and",), "from": ("to", "till", "until", "through"),
    "zwischen": ("und",), "von": ("bis",), "vom": ("bis", "bis zum"),
    "entre": ("et", "y", "e", "et le", "y el"), "de": ("à", "a"), "du": ("au",), "del": ("al",),
    "desde": ("hasta", "a", "hasta el"),
}  # fmt: skip
"""Words before the first of two dates, with those that may stand before the second."""
