"""English words that begin or end no concept: verbs of every text, adverbs, and nouns and adjectives without a topic.

Function words are in `analysis`; these are theirs and the verbs' neighbors, which a tagger would tell.
"""

from __future__ import annotations

from functools import cache

_VERBS = """
    accept achieve act add affect agree aim allow appear apply argue arise arrive ask assess associate assume
    attempt avoid base become begin behave belong believe bring build buy calculate call carry choose claim come
    compare complete conclude confirm consider consist contain continue contribute count create decide decrease define
    demonstrate depend derive describe detect determine develop die differ discover discuss eat eliminate emerge
    enable encourage end ensure enter establish estimate evaluate evolve examine exist expect explain explore
    express extend fail feel fill find finish follow form found gain generate get give go grow guess handle happen
    hear help hold hope identify illustrate imagine imply improve include increase indicate induce influence inform
    inhibit inspire intend introduce investigate involve join keep kill know lack last lay learn leave let lie like
    live look lose maintain make mean measure mediate meet mention move name need note notice observe obtain occur
    offer open operate own pass pay perform permit prefer prepare present prevent produce promote prove provide
    publish pull push put raise reach read receive recognize recommend reduce refer reflect regard relate rely
    remain remember remove replace report represent require respond result return reveal rise run say see seek seem
    select sell send serve set show sit speak spend stand start stay stop study suggest support suppose surround
    take teach tell tend think throw try turn understand undergo use vary visit wait want watch win wish wonder work
    write
"""
_IRREGULAR = """
    arose ate became began begun bought brought built came caught chose chosen did done drew drawn drove driven fell
    fallen felt flew flown fought found gave given gone got gotten grew grown had heard held kept knew known laid led
    left lent lost made meant met paid ran read rose risen said sang sat saw seen sent shown slept sold sought spent
    spoke spoken stood struck taken taught thought threw thrown told took understood underwent went won wore worn wrote
    written
"""
_CALENDAR = """
    january february march april june july august september october november december monday tuesday wednesday thursday
    friday saturday sunday jan feb mar apr jun jul aug sep sept oct nov dec
"""
CALENDAR = frozenset(_CALENDAR.split())
"""Months and days, without `may`."""
_OTHERS = """
    wrong else anywhere everywhere nowhere somewhere elsewhere nobody somebody anybody everybody
    able actual additional almost alone along already although always among amount another anything area around
    available away back bad basic best better big bit certain clear close common complete considerable current data
    different difficult due early easy eight enough entire especially etc even ever every everyone everything
    example fact far fashion few fifth final fine first five following former four fourth free front full further
    general good great half hand hard high however hundred idea important individual inside instead interest
    interesting issue key large late later latter least left less likely line little local long lot low main major
    mainly making many maybe mean million minute modern much multiple near necessary never new next nine none normal
    nothing novel numerous often old one ones others otherwise outside overall paper particular per perhaps poor
    possible potential present previous primary prior proper quite rather ready real recent related relative
    respective result results right same second several short significant similar simple since single six size small
    someone something sometimes soon special specific still strong study subject subsequent successful such suitable
    sure ten third thirty thousand three today together total true twelve twenty two typical upon usual various via
    well whatever whether whole wide without world worth yes yet young background objective objectives conclusion
    conclusions introduction abstract aims mr mrs ms dr prof fig figs eq ref refs vs eg ie al http https
    www com org html don doesn didn isn aren wasn weren won wouldn couldn shouldn can't don't doesn't didn't isn't
    aren't wasn't weren't won't wouldn't couldn't
    shouldn't it's that's there's i'm you're we're they're i've you've we've they've let's
"""


_HEADS = """
    aspect basis case change course effect event factor feature figure form group item kind level matter means
    member method model moment number order part period person place point problem process program project property
    question range rate reason record report role sample section set side situation sort state step structure system
    table term thing time type unit use value version view way week word work year day month people
"""
"""Nouns that say something only behind another word (`immune system`)."""


@cache
def general_nouns() -> frozenset[str]:
    """Return nouns that are no concept alone, with their plurals."""
    nouns = _HEADS.split()
    return frozenset([*nouns, *(f"{noun}s" for noun in nouns), "properties", "processes"])


@cache
def no_names() -> frozenset[str]:
    """Return all words that are no concept alone, whether they have a capital letter or not."""
    return weak_words() | general_nouns()


@cache
def weak_words() -> frozenset[str]:
    """Return the words, verbs with their forms."""
    forms = {form for verb in _VERBS.split() for form in _forms(verb)}
    return frozenset(forms | set(_IRREGULAR.split()) | set(_OTHERS.split()) | CALENDAR)


def _forms(verb: str) -> tuple[str, ...]:
    third = f"{verb[:-1]}ies" if verb[-1] == "y" and verb[-2] not in "aeiou" else f"{verb}s"
    if verb.endswith(("s", "x", "z", "ch", "sh")):
        third = f"{verb}es"
    root = verb[:-1] if verb[-1] == "e" else verb
    past = f"{verb[:-1]}ied" if third.endswith("ies") else f"{root}ed"
    doubled = (f"{verb}{verb[-1]}ed", f"{verb}{verb[-1]}ing") if verb[-1] in "bdgmnprt" else ()
    return (verb, third, past, f"{root}ing", *doubled)
