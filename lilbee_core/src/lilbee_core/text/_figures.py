"""Numbers, units and dates of a text, read so that two spellings of one figure are equal."""

from __future__ import annotations

import re
from dataclasses import dataclass

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar jänner janvier enero",
            "february feb februar février fevrier febrero",
            "march mar märz maerz mars marzo",
            "april apr avril abril",
            "may mai mayo",
            "june jun juni juin junio",
            "july jul juli juillet julio",
            "august aug août aout agosto",
            "september sep sept septembre septiembre setiembre",
            "october oct oktober okt octobre octubre",
            "november nov novembre noviembre",
            "december dec dezember dez décembre decembre diciembre",
        ),
        start=1,
    )
    for name in names.split()
}

_SMALL = """
    zero null zéro cero; one ein eins eine un une uno una; two zwei deux dos; three drei trois tres;
    four vier quatre cuatro; five fünf cinq cinco; six sechs seis; seven sieben sept siete; eight acht huit ocho;
    nine neun neuf nueve; ten zehn dix diez; eleven elf onze once; twelve zwölf douze doce; thirteen dreizehn treize
    trece; fourteen vierzehn quatorze catorce; fifteen fünfzehn quinze quince; sixteen sechzehn seize dieciséis;
    seventeen siebzehn diecisiete; eighteen achtzehn dieciocho; nineteen neunzehn diecinueve
"""
_TENS = """
    twenty zwanzig vingt veinte; thirty dreißig dreissig trente treinta; forty fourty vierzig quarante cuarenta;
    fifty fünfzig cinquante cincuenta; sixty sechzig soixante sesenta; seventy siebzig setenta; eighty achtzig ochenta;
    ninety neunzig noventa
"""
SCALES = {
    word: value
    for value, words in (
        (1e2, "hundred hundert cent cents cien ciento"),
        (1e3, "thousand tausend mille mil k"),
        (1e6, "million millions million millionen mio millón millones mn m"),
        (1e9, "billion billions milliarde milliarden mrd milliard milliards bn"),
        (1e12, "trillion trillions billionen"),
        (12.0, "dozen dozens dutzend douzaine docena"),
    )
    for word in words.split()
}
_ORDINAL_WORDS = """
    first erste erster ersten erstes premier première primero primera primer; second zweite zweiter zweiten zweites
    deuxième segundo segunda; third dritte dritter dritten drittes troisième tercero tercera tercer; fourth vierte
    vierter vierten quatrième cuarto cuarta; fifth fünfte fünfter fünften cinquième quinto quinta; sixth sechste
    sechster sechsten sixième sexto sexta; seventh siebte siebter siebten septième séptimo séptima; eighth achte achter
    achten huitième octavo octava; ninth neunte neunter neunten neuvième noveno novena; tenth zehnte zehnter zehnten
    dixième décimo décima; eleventh elfte elften onzième; twelfth zwölfte zwölften douzième; thirteenth; fourteenth;
    fifteenth; sixteenth; seventeenth; eighteenth; nineteenth; twentieth zwanzigste zwanzigsten vingtième
"""


def _numbered(text: str, start: int, step: int) -> dict[str, int]:
    groups = [group.split() for group in text.split(";")]
    return {word: start + step * at for at, group in enumerate(groups) for word in group}


WORDS = {**_numbered(_SMALL, 0, 1), **_numbered(_TENS, 20, 10)}
# Articles and other words that look like numbers: they count only before a word of scale ("one million").
ARTICLES = frozenset(("one", "ein", "eins", "eine", "un", "une", "uno", "una", "once"))
ORDINALS = _numbered(_ORDINAL_WORDS, 1, 1)
_GERMAN = re.compile(rf"({'|'.join(_SMALL.split(';')[n].split()[1] for n in range(1, 10))})und(\w+zig|dreißig)")

# Units: what they measure, the factor to the first one of that kind, and their names.
_UNIT_GROUPS = """
    length 1 m meter meters metre metres mètre mètres metro metros;
    length 1000 km kilometer kilometers kilometre kilometres kilometern kilomètre kilomètres kilómetro
        kilómetros;
    length 0.01 cm centimeter centimeters centimetre centimetres zentimeter centimètres centímetros;
    length 0.001 mm millimeter millimeters millimetre millimetres millimètres milímetros;
    length 1e-06 µm μm micrometer micrometers micron microns;
    length 1e-09 nm nanometer nanometers nanometre nanometres;
    length 1609.344 mi mile miles meile meilen millas;
    length 0.3048 ft foot feet fuß pieds pies;
    length 0.0254 inch inches zoll pouces pulgadas;
    length 0.9144 yd yard yards;
    mass 1 kg kilogram kilograms kilogramm kilogrammes kilogramos kilo kilos;
    mass 0.001 g gram grams gramm grammes gramos;
    mass 1e-06 mg milligram milligrams milligramm;
    mass 1000 tonne tonnes ton tons tonnen toneladas;
    mass 0.453592 lb lbs;
    mass 0.0283495 oz ounce ounces unzen onces onzas;
    volume 1 l liter liters litre litres litern litros;
    volume 0.001 ml milliliter milliliters millilitre millilitres;
    volume 3.785 gallon gallons gallonen galones;
    length2 1 m² m2 sqm;
    length2 1e+06 km² km2;
    length2 10000 ha hectare hectares hektar hectáreas;
    length2 4046.86 acre acres;
    share 1 % percent percents prozent pourcent pct;
    time 1 s sec second seconds sekunde sekunden secondes segundos;
    time 60 min minute minutes minuten minutos;
    time 3600 h hr hrs hour hours stunde stunden heure heures hora horas;
    time 86400 day days tag tage tagen jour jours día días;
    time 604800 week weeks woche wochen semaine semaines semana semanas;
    time 0.001 ms millisecond milliseconds millisekunden;
    months 1 month months monat monate monaten mois mes meses;
    months 12 year years jahr jahre jahren ans année années año años;
    months 120 decade decades jahrzehnt jahrzehnte décennies décadas;
    months 1200 century centuries jahrhundert jahrhunderte jahrhunderts siècle siècles siglo siglos;
    months 12000 millennium millennia jahrtausende;
    celsius 1 °c celsius;
    fahrenheit 1 °f fahrenheit;
    kelvin 1 kelvins;
    degree 1 ° degree degrees grad;
    dollar 1 $ us$ usd dollar dollars dólares;
    euro 1 € eur euro euros;
    sterling 1 £ gbp pound pounds pfund livres libras;
    yen 1 ¥ jpy yen;
    rupee 1 ₹ inr rupee rupees;
    franc 1 chf franc francs franken;
    crown 1 crown crowns kronen sek nok czk dkk;
    speed 1 km/h kmh kph;
    speed 1.60934 mph;
    speed 3.6 m/s;
    power 1 w watt watts;
    power 1000 kw kilowatt kilowatts;
    power 1e+06 mw megawatt megawatts;
    power 1e+09 gw gigawatt gigawatts;
    power 745.7 hp horsepower ps;
    energy 1 j joule joules;
    energy 1000 kj;
    energy 3.6e+06 kwh;
    energy 3.6e+09 mwh;
    frequency 1 hz hertz;
    frequency 1000 khz kilohertz;
    frequency 1e+06 mhz megahertz;
    frequency 1e+09 ghz gigahertz;
    voltage 1 v volt volts;
    current 1 amp amps ampere amperes;
    memory 1 byte bytes;
    memory 1000 kb kilobyte kilobytes;
    memory 1e+06 mb megabyte megabytes;
    memory 1e+09 gb gigabyte gigabytes;
    memory 1e+12 tb terabyte terabytes;
    bits 1 bit bits;
    bits 1000 kbit;
    bits 1e+06 mbit;
    before 1 bc bce;
    since 1 ad ce;
"""


def _units() -> dict[str, tuple[str, float]]:
    found: dict[str, tuple[str, float]] = {}
    for group in _UNIT_GROUPS.strip().rstrip(";").split(";"):
        kind, factor, *names = group.split()
        found.update(dict.fromkeys(names, (kind, float(factor))))
    return found


UNITS = _units()
# Signs that are words where they stand alone.
SIGNS_ONLY = frozenset(("mi", "oz", "ha", "ms", "ps"))
SIGNS = re.compile(
    r"[ \u00a0\u202f-]?(?:(km/h|m/s|km²|m²|km2|m2|kWh|MWh|°\s?[CF]|°|%|€|£|\$|¥|₹|µm|μm)|"
    r"(km|cm|mm|nm|kg|mg|ml|ha|lb|oz|ft|mi|GHz|MHz|kHz|Hz|kW|MW|GW|GB|MB|KB|TB|kB|kph|mph|hp|ms|g|m|s|h|V|W|J|l)\b)"
)
"""Units as signs, right behind a number."""
MONEY = re.compile(r"(US\$|\$|€|£|¥|₹|USD|EUR|GBP)\s?$")
"""Currencies right before a number."""
NUMBER = re.compile(r"\d{1,3}(?:[,.'’\u00a0\u202f ]\d{3})+(?![\d])(?:[.,]\d+)?|\d+(?:[.,]\d+)?")
DATE = re.compile(
    r"(?<![\d./-])(?:(\d{4})-(\d{1,2})-(\d{1,2})|(\d{1,2})(?P<apart>[./-])(\d{1,2})(?P=apart)(\d{4}|\d{2}))(?![\d/-])(?!\.\d)"
)


_MAY_BE_LEFT_OUT = frozenset(("since", "dollar", "euro", "sterling", "yen"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number with its unit, or a date. A number that can be read in two ways has two `values`."""

    values: tuple[float, ...] = ()
    unit: str | None = None
    factor: float = 1.0
    ordinal: bool = False
    year: int | None = None
    months: tuple[int, ...] = ()
    days: tuple[int, ...] = ()
    decade: bool = False

    @property
    def is_date(self) -> bool:
        return bool(self.months)

    @property
    def plain_year(self) -> int | None:
        """The year that a bare number may be."""
        if self.year is not None or self.unit or self.ordinal or len(self.values) != 1:
            return self.year
        value = self.values[0]
        return int(value) if value == int(value) and 1 <= value <= 2999 else None

    def same_value(self, other: Figure) -> bool:
        """Say whether both are the same number, whatever they count; in units of one kind, the same amount."""
        if self.is_date or other.is_date:
            return self._same_date(other)
        if self.ordinal != other.ordinal or self.decade != other.decade:
            return False
        scale = self.factor / other.factor if self.unit == other.unit else 1.0
        if len(self.values) == len(other.values):
            return any(_close(one * scale, two) for one, two in zip(self.values, other.values, strict=True))
        return any(_close(one * scale, two) for one in self.values for two in other.values)

    def fits_unit(self, other: Figure) -> bool:
        """Say whether both count the same, as far as this one says what it counts."""
        if self.is_date or other.is_date or self.unit == other.unit:
            return True
        if self.unit is None:
            # A year needs no era, and the dollars of a sum may go without saying, but shares are no numbers.
            return other.unit in _MAY_BE_LEFT_OUT
        # What the era of a year is goes without saying; "12 degrees" are those of the scale that the text names.
        return {self.unit, other.unit} in ({"since", None}, {"degree", "celsius"}, {"degree", "fahrenheit"})

    def _same_date(self, other: Figure) -> bool:
        if self.is_date and not other.is_date:
            return False
        if not self.is_date:
            year = self.plain_year
            return year is not None and year == other.year
        if self.year is not None and self.year != other.year:
            return False
        if not set(self.days) & set(other.days) and self.days:
            return False
        return bool(set(self.months) & set(other.months))


def _close(one: float, other: float) -> bool:
    return abs(one - other) <= 1e-9 * max(abs(one), abs(other))


def values_of(written: str) -> tuple[float, ...]:
    """Return what a written number can be: points and commas part thousands or decimals."""
    digits = re.sub(r"[\s'’]", "", written)
    marks = [sign for sign in digits if sign in ".,"]
    if not marks:
        return (float(digits),)
    if len(set(marks)) == 2:
        last = max(digits.rfind("."), digits.rfind(","))
        return (float(re.sub(r"[.,]", "", digits[:last]) + "." + digits[last + 1 :]),)
    whole = float(re.sub(r"[.,]", "", digits))
    if len(marks) > 1:
        return (whole,)
    decimal = float(digits.replace(",", "."))
    tail = digits.rpartition(marks[0])[2]
    return (whole, decimal) if len(tail) == 3 and not digits.startswith("0") else (decimal,)


def value_of_word(word: str) -> float | None:
    """Return the value of a number that is written as one word."""
    if word in WORDS:
        return float(WORDS[word])
    match = _GERMAN.fullmatch(word)
    return float(WORDS[match[1]] + WORDS.get(match[2], 0)) if match else None


def date_of(match: re.Match[str]) -> Figure | None:
    """Return the date of a match of `DATE`; where day and month cannot be told apart, either order holds."""
    if match[1]:
        year, month, day = int(match[1]), int(match[2]), int(match[3])
        return Figure(year=year, months=(month,), days=(day,)) if _is_date(month, day) else None
    one, two, year = int(match[4]), int(match[6]), int(match[7])
    year += 0 if len(match[7]) == 4 else 2000 if year < 50 else 1900
    orders = [(two, one)] if match[5] == "." else [(two, one), (one, two)]
    valid = [(month, day) for month, day in orders if _is_date(month, day)]
    if not valid:
        return None
    return Figure(year=year, months=tuple(month for month, _ in valid), days=tuple(day for _, day in valid))


def _is_date(month: int, day: int) -> bool:
    return 1 <= month <= 12 and 1 <= day <= 31
