"""Versions of a fact: the newer of two replaces the older, and facts about different things never do.

pytest tests/test_versions.py        needs no weights and no network
"""

from __future__ import annotations

import time
from datetime import timedelta

import pytest
from conftest import NOON

from chatmem.endings import first_half
from chatmem.interface import Recollection
from chatmem.versions import handles, is_fixed, may_replace, newest_only, relate


def told(*texts: str, scores: tuple[float, ...] = ()) -> list[Recollection]:
    """Return lines told a day apart, oldest first."""
    return [
        Recollection(text, scores[day] if scores else 0.6, day + 1, 0, NOON + timedelta(days=day), "user", line=day + 1)
        for day, text in enumerate(texts)
    ]


CHANGED = [
    ("Our shed is brown.", "I painted the shed and it's yellow."),
    ("I'm a plumber.", "I'm working as a gardener now."),
    ("I'm a baker.", "I became a driver."),
    ("I prefer rye to wheat.", "I prefer wheat now."),
    ("I like hens more than geese.", "I like geese better these days."),
    ("比起茶我更喜欢咖啡。", "我现在更喜欢茶了。"),
    ("Я больше люблю чай, чем кофе.", "Теперь я больше люблю кофе."),
    ("My kayak is white.", "I repainted my kayak, it is black now."),
    ("My name is Ruta.", "I changed my name to Ilze."),
    ("My usual lunch is soup.", "These weeks it's a salad for my lunch instead of soup."),
    ("My niece Olga studies in Turku.", "Olga studies in Vaasa, not Turku."),
    ("My parrot is nine years old.", "My parrot isn't nine, it's eleven."),
    ("My beard is black.", "I dyed my beard blue last week."),
    ("I'm a waiter at the Blue Oar.", "I've just been hired by the Tin Lantern."),
    ("I'm a welder at Norrvik Marine.", "First day at Lumo Yards, and I like it."),
    ("My library card expires this month.", "I renewed my library card until May."),
    ("My bus pass ends on Sunday.", "I topped up my bus pass, it's good until March."),
    ("I drive a Saab.", "I traded the Saab for a van."),
    ("My train leaves at 7:15.", "My train leaves at 7:45."),
    ("The rehearsal is on Monday.", "The rehearsal was postponed to Friday."),
    ("I live in Kaunas.", "I moved to Turku in May."),
    ("The gate key is in the shed.", "The gate key is not in the shed."),
    ("My landlord is called Aldo.", "I have a new landlord, he is called Brix."),
    ("I work at Orbix.", "I left Orbix."),
    ("I work at Orbix.", "I don't work at Orbix any more."),
    ("I work for Orbix as a clerk", "I was hired by Lumo."),
    ("I work at Orbix.", "I quit my old job and started at Lumo last week."),
    ("My favourite colour is red.", "My favorite color is now green."),
    ("My favourite colour is red.", "Green is my favourite colour now."),
    ("My favourite colour is red.", "My favourite colour is blue."),
    ("I'm 34 years old.", "I just turned 35."),
    ("I am married to Jon.", "I got divorced."),
    ("I drive a Volvo.", "I drive a Tesla now."),
    ("I have two cats.", "I have three cats now."),
    ("I eat meat.", "I don't eat meat any more."),
    ("I eat meat.", "I stopped eating meat."),
    ("I like fish.", "I don't like fish."),
    ("I have a dog.", "I no longer have a dog."),
    ("I have a car.", "I sold my car."),
    ("My phone number is 555-0192.", "My new phone number is 555-0193."),
    ("My phone number is 555-0192.", "My number changed to 555-0193"),
    ("My office is on floor 5.", "My office is on floor 6."),
    ("My sister lives in Rome.", "My sister moved to Athens."),
    ("My friend Marek lives in Oslo.", "Marek moved to Bern."),
    ("I drink coffee.", "I switched from coffee to tea."),
    ("I am vegetarian.", "I'm vegan now."),
    ("Я живу в Москве.", "Я переехал в Казань."),
    ("Меня зовут Аня.", "Меня зовут Ольга."),
    ("我住在北京。", "我搬到上海了。"),
    ("我最喜欢的颜色是红色。", "我最喜欢的颜色现在是蓝色。"),
    ("Мой любимый цвет красный", "Мой любимый цвет теперь синий"),
    ("I smoke.", "I quit smoking."),
    ("I love jazz.", "I hate jazz."),
    ("I'm allergic to nuts.", "I'm not allergic to nuts after all."),
    ("My meeting is on Monday at 3.", "My meeting is on Tuesday at 3."),
    ("I live in Oslo.", "I've relocated to Bergen."),
    ("My boss is Petra.", "My boss is Tom now."),
    ("My boss is Petra.", "I have a new boss, Tom."),
    ("I get up at six.", "I get up at seven now."),
    ("My dentist is Dr Mora.", "My dentist is Dr Pell."),
    ("I want to go to Peru next year.", "I don't want to go to Peru any more."),
    ("My wifi password is abc123", "My wifi password is now xyz789"),
    ("My son is 5.", "My son is 6 now."),
]

BOTH_HOLD = [
    ("My van is a Fiat.", "I washed the van, it's clean."),
    ("I'm a baker.", "I'm a singer."),
    ("I'm a baker.", "I became a vegetarian."),
    ("I prefer rye to wheat.", "I prefer tea now."),
    ("比起茶我更喜欢咖啡。", "我现在更喜欢猫了。"),
    ("My uncle lives in Lyon.", "My aunt moved to Nantes."),
    ("I live in Kaunas.", "My brother moved to Turku."),
    ("I like figs.", "I like dates."),
    ("I speak Latvian.", "I also speak Finnish."),
    ("My kayak is white.", "My tent is green."),
    ("My dentist is on Elm Street.", "My doctor is on Elm Street."),
    ("I play the lute.", "My sister started to play the drums."),
    ("My friend is Ana.", "My friend is Bob."),
    ("I saw 3 herons.", "I saw 4 herons."),
    ("My dog is called Rex.", "My dog is called Max."),
    ("My car is red.", "My car is a Volvo."),
    ("My boat is blue.", "My boat is old."),
    ("I live in Portugal.", "I live in Porto."),
    ("I live in Oslo.", "I used to live in Bergen."),
    ("I have a dog.", "My dog is called Rex."),
    ("I have a meeting at 3.", "I have a meeting at 5."),
    ("My sister is a nurse.", "My sister's dog is called Rex."),
    ("My office is on floor 5.", "My office is on Elm Street."),
    ("I work at Orbix.", "I work as a nurse."),
    ("I love my new bike.", "I love my old bike."),
    ("My name is Robert.", "Call me Rob."),
    ("I'm allergic to nuts.", "I'm allergic to milk."),
    ("I have a cat.", "I don't have a dog."),
    ("I moved to Oslo in 2019.", "I bought a new bike."),
    ("My son is 5.", "My daughter is 7."),
    ("My sister Ana lives in Rome.", "My sister Eva lives in Oslo."),
    ("I like tea.", "I don't like coffee."),
    ("My niece Olga studies in Turku.", "My nephew studies in Vaasa, not far from here."),
    ("My mother's hair is grey.", "I dyed my hair red."),
    ("My library card is blue.", "I renewed my passport until May."),
    ("My gym is on Elm Street.", "My gym is closed now."),
    ("My flight to Oslo is at 9.", "My flight to Rome is at 11."),
    ("I'm a teacher.", "I'm a mother."),
    ("My phone number is 555.", "My sister's phone number is 777."),
    ("I work at Orbix.", "I have a new hobby, chess."),
    ("My kayak is 3 metres long.", "I repainted my kayak, it is black now."),
    ("I was born in Oslo.", "I was born in 1990."),
    ("I have 2 sons.", "I have 3 sisters."),
    ("I'm learning Spanish.", "I'm learning Dutch."),
    ("My favourite colour is red.", "My favourite food is pizza."),
    ("I met Ann on Monday.", "I met Ann on Friday."),
    ("My brother works at Orbix.", "I joined Lumo."),
    ("I take 20 mg of Zorin in the morning.", "I take 40 mg of Pelan at night."),
]

AGAIN = [
    ("I'm a baker.", "I'm working as a baker, remember."),
    ("My boat is blue.", "my boat is BLUE"),
    ("I'm Ana.", "I am Ana!"),
    ("I live in Oslo.", "Well, I live in Oslo, Norway."),
    ("I don't eat meat.", "I don’t eat meat"),
]


@pytest.mark.parametrize(("old", "new"), CHANGED)
def test_newer_version_replaces(old, new):
    assert relate(new, old) == "replaces"
    assert handles(new) & handles(old)  # or the two would never be compared
    lines = told(old, new)
    assert [line.text for line in newest_only(lines)] == [new]
    assert [line.text for line in newest_only(lines[::-1])] == [new]


@pytest.mark.parametrize(("old", "new"), BOTH_HOLD)
def test_facts_about_other_things_stay(old, new):
    assert relate(new, old) == "unrelated"
    assert newest_only(told(old, new)) == told(old, new)


@pytest.mark.parametrize(("old", "new"), AGAIN)
def test_same_fact_again_replaces_nothing(old, new):
    assert relate(new, old) != "replaces"
    assert relate(old, old) == "same"


def test_older_line_never_replaces_a_newer_one():
    lines = told("I repainted my kayak, it is black now.", "My kayak is white.")
    assert "My kayak is white." in [line.text for line in newest_only(lines)]


def test_better_judge_can_be_given():
    lines = told("I live in Kaunas.", "I moved to Turku.", "My tent is green.")
    assert newest_only(lines, lambda *_: "unrelated") == lines
    assert [line.text for line in newest_only(lines, lambda *_: "replaces")] == ["My tent is green."]


@pytest.mark.parametrize(
    ("new", "old", "may"),
    [
        ("Olga has a cat called Smudge.", "Marek has a cat called Tilly.", False),
        ("My friend Priya drives a Volvo now.", "Jonas drives a Fiat.", False),
        ("Menuza Segugu works in Brno.", "Sofuze Tazapo works in Lund.", False),
        ("Priya moved to Lund.", "My friend Priya lives in Graz.", True),
        ("Yoga is my hobby now.", "Chess is my hobby.", True),
        ("Ingrid moved out.", "weve got a lodger, Ingrid, upstairs", True),
        ("Nobody works in Brno.", "Jonas works in Brno.", True),
        ("My sister moved to Bergen.", "Petra lives in Lund.", True),
        ("I moved to Bergen.", "I live in Lund.", True),
        ("My hair is red now.", "My mother's hair is black.", False),
    ],
)
def test_what_is_said_of_one_person_replaces_nothing_on_another(new, old, may):
    assert may_replace(new, old) is may


def test_what_does_not_change():
    assert is_fixed("My name is Ruta.")
    assert is_fixed("I was born in Vilnius.")
    assert is_fixed("Меня зовут Рута.")
    assert not is_fixed("I live in Kaunas.")
    assert not is_fixed("My sister's name is Ruta.")


def test_comparison_is_fast():
    texts = [f"On visit {n} the archive clerk showed me book {n * 7}." for n in range(300)]
    started = time.perf_counter()
    assert not any(relate(new, old) == "replaces" for new in texts[:50] for old in texts[50:])
    assert time.perf_counter() - started < 5


HALVES = [
    ("I play badminton every Friday.", "I gave up badminton; my sport is curling now."),
    ("I cycle home.", "I've stopped cycling, and the funicular takes me home now."),
    ("I take the funicular to the office.", "I don't take the funicular any more; the steps are my way up now."),
]


@pytest.mark.parametrize(("old", "new"), HALVES)
def test_a_statement_whose_first_half_ends_an_older_one_replaces_it(old: str, new: str) -> None:
    assert relate(new, old) == "replaces"
    assert first_half(new)


BESIDE = [
    ("I live near the badminton hall.", "I gave up badminton."),
    ("My badminton racket is red.", "I gave up badminton; my sport is curling now."),
    ("My sister plays badminton.", "I gave up badminton; my sport is curling now."),
    ("I work at Orbix.", "I quit smoking."),
    ("I work at Orbix.", "I left Novatek."),
]


@pytest.mark.parametrize(("old", "new"), BESIDE)
def test_what_is_given_up_ends_nothing_that_only_bears_its_name(old: str, new: str) -> None:
    assert relate(new, old) == "unrelated"
    assert relate(first_half(new) or new, old) == "unrelated"


@pytest.mark.parametrize(
    "text", ["I like tea, milk and cake.", "When I was ill, I slept a lot.", "My sister has a dog."]
)
def test_a_statement_of_one_clause_has_no_first_half(text: str) -> None:
    assert first_half(text) == ""
