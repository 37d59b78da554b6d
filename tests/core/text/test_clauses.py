"""Who a sentence says it of: not what it names on the way to its subject (R193)."""

import pytest

from lilbee_core.text import support

PASSED_OVER = [
    ("With the help of Anna, Bert built the boat.", "Anna built the boat."),
    ("After Anna left, Bert built the boat.", "Anna built the boat."),
    ("Unlike Anna, Bert won the race in 1911.", "Anna won the race in 1911."),
    ("While Marta watched, Ines caught the swarm.", "Marta caught the swarm."),
    ("At the request of the mayor, the council closed the pool.", "The mayor closed the pool."),
    ("According to the report of Dr. Mills, the dam failed in March.", "Dr. Mills failed in March."),
    ("Because the pump of the north well broke, the south well was used in 1950.", "The north well was used in 1950."),
    ("In 1911, the Danube was mapped, and the Elbe in 1920.", "The Elbe was mapped in 1911."),
    ("The sister of Marta caught the swarm.", "Marta caught the swarm."),
    ("Ines, who is the sister of Marta, caught the swarm.", "Marta caught the swarm."),
    ("The company that bought Acme paid 3 million dollars.", "Acme paid 3 million dollars."),
    ("The man who had shot Lincoln died in a barn.", "Lincoln died in a barn."),
    ("The son of King John was crowned in 1216.", "King John was crowned in 1216."),
    ("Critics of Darwin rejected the theory.", "Darwin rejected the theory."),
    ("Work on the bridge began in 1911.", "The bridge began in 1911."),
]
SUBJECTS = [
    ("At the request of the mayor, the council closed the pool.", "The council closed the pool."),
    ("According to the report of Dr. Mills, the dam failed in March.", "The dam failed in March."),
    ("After Anna left, she built the boat.", "Anna built the boat."),
    ("The bridge in Bern was built in 1911.", "The bridge was built in 1911."),
    ("The company that bought Acme paid 3 million dollars.", "The company paid 3 million dollars."),
    ("The city of Bern was founded in 1191.", "Bern was founded in 1191."),
    ("The Duke of Wellington won the battle.", "Wellington won the battle."),
    ("Tom says that Marta caught the swarm.", "Marta caught the swarm."),
    ("On Saturday 24 May 2025, a few minutes before noon, hive seven swarmed. The hive is old.", "Hive seven swarmed."),
    (
        "On Saturday 24 May 2025, a few minutes before noon, hive seven swarmed. The hive is old.",
        "Hive seven swarmed on 24 May 2025.",
    ),
    (
        "In the late spring of 1911, the Avocet bridge was built. A bridge.",
        "The Avocet bridge was built in spring 1911.",
    ),
    ("Early on Monday morning the old ferry sank off Calais. An old ferry.", "The old ferry sank on Monday."),
    (
        "Am späten Abend des 3. Mai 1911 wurde die alte Brücke gesprengt. Die alte Brücke stand dort.",
        "Die alte Brücke wurde am 3. Mai 1911 gesprengt.",
    ),
]


@pytest.mark.parametrize(("passage", "statement"), PASSED_OVER)
def test_what_is_named_on_the_way_to_the_subject_did_not_do_it(passage, statement):
    found = support(statement, passage)

    assert not found.supported
    assert found.reason == "subject"


@pytest.mark.parametrize(("passage", "statement"), SUBJECTS)
def test_the_subject_did_it_whatever_stands_before(passage, statement):
    assert support(statement, passage).supported
