"""Everyday questions on many subjects, of which any one library answers few."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_ENGLISH = """\
How long should bread dough rise before baking?
What is the capital of Mongolia?
Who invented the telescope?
How do I change the oil in a motorcycle?
What are the symptoms of iron deficiency?
How many players are on a volleyball team?
When was the printing press introduced in Europe?
Which planet has the most moons?
How do I reset a forgotten router password?
What causes tides in the ocean?
How is compound interest calculated?
What is the difference between a violin and a viola?
How do you prune apple trees in winter?
Which visa do students need for Japan?
What is the boiling point of ethanol?
How do octopuses change color?
What does a notary public do?
How do I remove red wine stains from a carpet?
Who painted the ceiling of the Sistine Chapel?
How do I sort a list in reverse order?
What vaccines does a puppy need?
How high is the tallest mountain in Africa?
What is a good opening against the Sicilian defense?
How are diamonds formed?
How do I renew a driving license online?
What is the plot of Hamlet?
How does a heat pump work?
When do whales migrate south?
What is the exchange rate of the Swiss franc?
Who won the world cup in 1998?
How do I knit a pair of socks?
What time does the museum close on Sundays?
How do volcanoes erupt?
Which battery fits this camera?
How do you tune a guitar by ear?
What is the minimum wage in Ireland?
How do courts handle divorce and custody?
Which insects pollinate orchids?
How do I fix a leaking kitchen tap?
What are the rules of cricket?"""

_GERMAN = """\
Wie lange muss Brotteig vor dem Backen gehen?
Was ist die Hauptstadt der Mongolei?
Wer hat das Fernrohr erfunden?
Wie wechsle ich das Öl an einem Motorrad?
Welche Anzeichen hat ein Eisenmangel?
Welcher Planet hat die meisten Monde?
Wie setze ich ein vergessenes Passwort des Routers zurück?
Wie entstehen Ebbe und Flut?
Wie rechnet man Zinseszins?
Wann schneidet man Apfelbäume im Winter?
Welches Visum brauchen Studenten für Japan?
Wie wechseln Tintenfische die Farbe?
Was macht ein Notar?
Wie bekomme ich Rotwein aus dem Teppich?
Wie funktioniert eine Wärmepumpe?
Wie stimmt man eine Gitarre nach Gehör?
Wie hoch ist der Mindestlohn in Irland?
Wie brechen Vulkane aus?
Welche Impfungen braucht ein Welpe?
Wovon handelt Hamlet?"""

_FRENCH = """\
Combien de temps la pâte à pain doit-elle lever ?
Quelle est la capitale de la Mongolie ?
Qui a inventé le télescope ?
Comment vidanger l'huile d'une moto ?
Quels sont les signes d'un manque de fer ?
Quelle planète a le plus de lunes ?
Comment retrouver le mot de passe oublié du routeur ?
Quelle est la cause des marées ?
Comment calcule-t-on les intérêts composés ?
Quand faut-il tailler les pommiers en hiver ?
Quel visa faut-il aux étudiants pour le Japon ?
Comment les pieuvres changent-elles de couleur ?
Que fait un notaire ?
Comment enlever une tache de vin rouge d'un tapis ?
Comment fonctionne une pompe à chaleur ?
Comment accorder une guitare à l'oreille ?
Quel est le salaire minimum en Irlande ?
Pourquoi les volcans entrent-ils en éruption ?
De quels vaccins un chiot a-t-il besoin ?
De quoi parle Hamlet ?"""

_SPANISH = """\
¿Cuánto tiempo debe reposar la masa de pan?
¿Cuál es la capital de Mongolia?
¿Quién inventó el telescopio?
¿Cómo se cambia el aceite de una moto?
¿Cuáles son los síntomas de la falta de hierro?
¿Qué planeta tiene más lunas?
¿Cómo recupero la contraseña olvidada del router?
¿Qué causa las mareas?
¿Cómo se calcula el interés compuesto?
¿Cuándo se podan los manzanos en invierno?
¿Qué visado necesitan los estudiantes para Japón?
¿Cómo cambian de color los pulpos?
¿Qué hace un notario?
¿Cómo se quita una mancha de vino tinto de la alfombra?
¿Cómo funciona una bomba de calor?
¿Cómo se afina una guitarra de oído?
¿Cuál es el salario mínimo en Irlanda?
¿Por qué entran en erupción los volcanes?
¿Qué vacunas necesita un cachorro?
¿De qué trata Hamlet?"""

QUESTIONS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "en": tuple(_ENGLISH.splitlines()),
        "de": tuple(_GERMAN.splitlines()),
        "fr": tuple(_FRENCH.splitlines()),
        "es": tuple(_SPANISH.splitlines()),
    }
)
"""By language; a library in another one is asked the English ones."""
