"""Words that decide what a statement says, in English, German, French and Spanish.

Function words, negations, pronouns, opposites, and forms that no rule of endings brings together.
"""

from __future__ import annotations

from functools import lru_cache


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Words without a topic of their own. Negations are not among them: they are looked at by themselves.
FUNCTION = _set(
    """
    a about above after again against all along also although am among an and any are as at be became because become
    becomes been before being below between both but by can could did do does doing done during each either else even
    ever every for from had has have having he her here hers herself him himself his how however i if in indeed into is
    it its itself just let like may me might more most much must my myself near of off on once one onto or other others
    our ours out over own per quite rather same shall she should since so some still such than that the their theirs
    them themselves then there therefore these they this those though through throughout thus to together too toward
    towards under until unto up upon us use used using very via was we were what when where whereas whether which while
    who whom whose why will with within would yet you your yours yes

    aber alle allem allen aller alles als also am an ander andere anderen anderer anderes auch auf aus bei beim bin bis
    bist da dabei dafür damit dann daran darauf das dass dazu dem den denn der deren des deshalb dessen die dies diese
    diesem diesen dieser dieses doch dort du durch ein eine einem einen einer eines einige er es etwa etwas euch für
    gegen hab habe haben hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in indem ins
    ist ja jede jedem jeden jeder jedes jedoch jene jener kann können könnte man mehr mein meine mich mir mit muss
    musste nach nun nur ob oder sehr sein seine seinem seinen seiner seit sich sie sind so sollte sondern sowie um und
    uns unser unsere unter viel vom von vor wann war waren warum was weil welche welcher welches wenn wer werde werden
    wie wieder will wir wird wo wurde wurden während zu zum zur zwar zwischen über laut gemäß

    ainsi après au aucun autre autres aux avaient avait avant avec avoir ce cela celle celui ces cet cette ceux chez
    comme comment contre dans de depuis des donc dont du elle elles en encore entre est et eu eux fait faut fut furent
    il ils je la le les leur leurs lors lui ma mais mes même mon nos notre nous on ont ou où par parce pendant peu peut
    plus pour pourquoi qu quand que quel quelle quelles quels qui quoi sa se selon sera ses si soit son sont sous sur ta
    te tes ton tous tout toute toutes très trop un une vers vos votre vous à été être étaient était y l d

    al algo algunos ambos ante antes aquel aquella así aunque cada como con contra cual cuando cuyo de del desde después
    donde durante e el ella ellas ellos en entre era eran eres es esa ese eso esta estaba estaban estado este esto estos
    está están fue fueron ha había habían han hasta hay la las le les lo los mas me mediante mi mientras muy más mía
    otra otras otro otros para pero por porque pues que quien quienes qué se sea según ser si sido sobre son su sus sí
    también te tiene todo todos tras tu un una unas uno unos y ya yo él
    """
)

REPORTING = _set(
    """
    according added additionally answer answers based document documents describe described describes example examples
    explain explained explains furthermore generally given instance mention mentioned mentions moreover
    namely note noted notes passage passages report reported reports said say says see source sources state stated
    states tell tells text
    """
)
"""Words by which a statement speaks of its sources. Only in lower case: the States are a country."""

NEGATIONS = _set(
    """
    not no never none nobody nothing nowhere neither nor without cannot lack lacks lacked lacking unable
    nicht kein keine keinem keinen keiner keines nie niemals niemand nichts ohne weder
    pas jamais aucun aucune rien sans ni non
    nunca jamás nadie nada ningún ninguno ninguna sin tampoco
    """
)
"""Words that deny. ``ne`` counts through its partner (ne … pas); ``n't`` is cut off its verb before they are asked."""

WIDENING = _set("only nur bloß seulement solo solamente sólo")
"""A negation before one of these denies nothing ("not only")."""

PRONOUNS = _set(
    """
    he she it they his her its their him them this these that those the
    er sie es ihr ihre sein seine dieser diese dieses der die das den dem
    il elle ils elles son sa ses leur leurs ce cet cette ces le la les l
    él ella ellos ellas su sus este esta estos estas el los las lo
    """
)
"""Words by which a sentence may speak of what was named before it."""

BY = _set("by von vom durch par por")
"""Words before the doer of a sentence in the passive voice."""

DEFINITE = _set("the der die das den dem le la les l el los las lo")

AUXILIARIES = _set(
    """
    is are was were has had have can could will would may must should did does do cannot
    ist sind war waren wurde wurden hat hatte hatten kann konnte wird est sont était étaient a ont fut furent peut
    es son era eran fue fueron ha han había puede está
    """
)
"""Words that a subject ends before."""

OPENERS = _set(
    """
    approximately roughly nearly almost originally initially eventually finally later earlier today currently recently
    people several many few various
    """
)
"""Words that open a sentence with a capital and are no names."""

LEADING = _set(
    """
    about above according across after against along although amid among apart as aside at because before behind
    below beneath beside besides beyond by contrary despite due during except far following for from given if in
    inside instead into like near next notwithstanding of off on once onto out outside over owing past prior
    regarding rather since so soon than thanks though through throughout till to together toward towards under
    unless unlike until up upon when whenever whereas while with within without early late later shortly just ab am
    an auf aus außer bei bis da durch für gegen gemäß hinter im in infolge laut mit nach nachdem neben ob obwohl
    ohne seit sobald statt trotz über um unter vom von vor während wegen weil wenn wie zu zum zur zwischen après
    avant avec chez comme contre dans depuis derrière dès durant en entre malgré outre par parmi pendant pour quand
    sans sauf selon si sous suite sur ante antes bajo con contra cuando desde después durante en entre hacia hasta
    mediante para por según sin sobre tras
    """
)
"""Words that a sentence begins with where something stands before its subject."""

ARTICLES = _set(
    """
    the a an his her its their our my your this that these those each every der die das den dem des ein eine einen
    einem einer eines sein seine ihr ihre le la les l un une des son sa ses leur leurs el los las lo una su sus
    """
)

WITHIN = _set(
    """
    of in from by at on near with for to against behind under von vom des aus bei für mit gegen zu zum zur de du del
    d par pour avec con por para
    """
)
"""Words by which one thing is told by another: the sister *of* Anna, a shop *in* Bern."""

KINDS_OF = _set(
    """
    city town village island state republic kingdom county province region district river lake port month year name
    title word term language game art idea concept case act process number total group pair couple lot lots kind
    type sort piece form set series majority rest body variety stadt dorf insel land fluss see jahr name titel wort
    begriff anzahl gruppe paar art reihe ville village île fleuve lac mois année nom titre mot groupe paire sorte
    ciudad pueblo isla río lago mes año nombre título palabra grupo par tipo
    """
)
"""Words before *of* that only say what the thing behind it is, or how much of it."""

RELATIVES = _set("who whom which that qui que quien quienes")

TIME = _set(
    """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december spring summer autumn fall winter morning noon midday afternoon evening night
    midnight dawn dusk day days week weeks weekend month months year years decade decades century centuries hour
    hours minute minutes moment early late later mid middle beginning start end same next following previous last
    first several few today yesterday montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag januar
    jänner februar märz mai juni juli oktober dezember frühling frühjahr sommer herbst morgen mittag nachmittag
    abend nacht tag tage tagen woche wochen monat monate jahr jahre jahren jahrhundert stunde stunden minute minuten
    anfang ende mitte früh frühen spät späten nächsten lundi mardi mercredi jeudi vendredi samedi dimanche janvier
    février mars avril juin juillet août septembre octobre novembre décembre printemps été automne hiver matin midi
    soir nuit jour jours semaine mois an ans année années siècle début fin lunes martes miércoles jueves viernes
    sábado domingo enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
    primavera verano otoño invierno mañana mediodía tarde noche día días semana mes año años siglo principios
    finales
    """
)
"""Words that tell when something was."""

_OPPOSITES = """
    more less; most least; most fewest; more fewer; many few; increase decrease; increase reduce; rise fall; rise drop;
    grow shrink; before after; first last; early late; earlier later; earliest latest; always never; north south;
    east west; northern southern; eastern western; northeast southwest; northwest southeast; high low; higher lower;
    highest lowest; large small; larger smaller; largest smallest; big small; bigger smaller; biggest smallest;
    old new; older newer; older younger; oldest newest; oldest youngest; old young; long short; longer shorter;
    longest shortest; above below; over under; inside outside; internal external; maximum minimum; majority minority;
    upper lower; major minor; include exclude; accept reject; allow forbid; allow prohibit; permit prohibit; win lose;
    won lost; success failure; succeed fail; support oppose; left right; male female; men women; man woman;
    positive negative; hot cold; hotter colder; warm cool; wet dry; fast slow; faster slower; strong weak;
    stronger weaker; rich poor; open closed; begin end; start end; begin finish; start finish; birth death; born died;
    enter leave; arrive depart; import export; public private; legal illegal; true false; all none; everyone nobody;
    agree disagree; appear disappear; day night; husband wife; father mother; son daughter; brother sister; king queen;
    buy sell; bought sold; lend borrow; love hate; ally enemy; victory defeat; gain loss; superior inferior;
    minimal maximal; partial complete; temporary permanent; common rare; safe dangerous; easy difficult; full empty;
    mehr weniger; vor nach; erste letzte; größer kleiner; hoch niedrig; alt neu; jung alt; lang kurz; über unter;
    steigen fallen; steigen sinken; gewinnen verlieren; norden süden; osten westen; krieg frieden; früher später;
    plus moins; avant après; premier dernier; grand petit; haut bas; nord sud; est ouest; vieux nouveau; gagner perdre;
    augmenter diminuer; long court; supérieur inférieur; jour nuit; guerre paix;
    más menos; antes después; primero último; mayor menor; alto bajo; norte sur; este oeste; viejo nuevo; ganar perder;
    aumentar disminuir; largo corto; superior inferior; guerra paz
"""

_IRREGULAR = """
    begin began begun; bear bore born borne; become became; break broke broken; bring brought; build built; buy bought;
    catch caught; choose chose chosen; come came; cut cutting; deal dealt; draw drew drawn; drive drove driven;
    eat ate eaten; fall fell fallen; feed fed; feel felt; fight fought; find found; fly flew flown; forbid forbade
    forbidden; forget forgot forgotten; freeze froze frozen; get got gotten; give gave given; go went gone;
    grow grew grown; hang hung; hear heard; hide hid hidden; hold held; keep kept; know knew known; lay laid;
    lead led; leave left; lend lent; lose lost; make made; mean meant; meet met; pay paid; ride rode ridden;
    rise rose risen; run ran; seek sought; sell sold; send sent; shake shook shaken; shoot shot; show shown; sing sang
    sung; sink sank sunk; sit sat; sleep slept; speak spoke spoken; spend spent; stand stood; steal stole stolen;
    strike struck; swear swore sworn; swim swam swum; take took taken; teach taught; tear tore torn; think thought;
    throw threw thrown; understand understood; wear wore worn; win won; write wrote written; man men; woman women;
    child children; foot feet; tooth teeth; mouse mice; goose geese; life lives; wife wives; half halves; leaf leaves;
    datum data; medium media; bad worse worst; good better best; die died dies dying death; lie lay lain;
    colour color; centre center; theatre theater; grey gray; defence defense; programme program; metre meter;
    gründen gründete; bauen gebaut; schreiben schrieb geschrieben; gehen ging gegangen; stehen stand; sterben starb
    gestorben; werden geworden; nehmen nahm genommen; geben gab gegeben; kommen kam gekommen; finden fand gefunden;
    construire construit construite; naître né née naquit; mourir mort morte mourut; écrire écrit écrite;
    construir construido construida; nacer nació nacido nacida; morir murió muerto; escribir escribió escrito
"""


def _groups(text: str) -> list[list[str]]:
    return [group.split() for group in text.split(";")]


_BASE = {form: group[0] for group in _groups(_IRREGULAR) for form in group}

# Endings that change a word without making it another one, longest first.
_ENDINGS = _set(
    """
    ization izations isation isations ational fulness iveness ousness ations ation ments ment ances ance ences ence
    ingly edly ically ally ings ing ied ies est ers ors er or ed es s ly al ally ic ical ism ist ists ion ions ive
    ität itäten ungen ung lich liche lichen licher liches isch ische ischen en ern em er es e n
    ement ements euse euses eur eurs aient ait ées ée és é er ir
    ción ciones aciones ación mente ando iendo aba aban ado ada ados adas ido ida idos idas aron ieron ar ir os as a o
    """
)
_LAST = max(map(len, _ENDINGS))
_FEWEST = 4


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """Return what forms of a word (folded to lower case) have in common; only to be compared with other stems."""
    word = _BASE.get(word, word)
    for _ in range(2):
        for size in range(min(_LAST, len(word) - _FEWEST), 0, -1):
            if word[-size:] in _ENDINGS:
                word = word[:-size]
                break
        else:
            break
    if len(word) > _FEWEST and word[-1] == word[-2]:
        word = word[:-1]
    return word.rstrip("iy") if len(word) > _FEWEST else word


def _opposites() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for one, other in _groups(_OPPOSITES):
        found.setdefault(stem(one), set()).add(stem(other))
        found.setdefault(stem(other), set()).add(stem(one))
    return {word: frozenset(others) for word, others in found.items()}


OPPOSITES = _opposites()
"""Stems of words, with the stems of those that say the opposite."""

_DENYING = ("un", "in", "im", "ir", "il", "dis", "non")


def denies(one: str, other: str) -> bool:
    """Say whether one word is the other with a prefix that denies it (possible, impossible)."""
    short, long = sorted((one, other), key=len)
    return len(short) >= _FEWEST and any(long == prefix + short for prefix in _DENYING)
