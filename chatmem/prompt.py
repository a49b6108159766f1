"""Prompts: recollections, history and the user's new line, as a text within the model's window.

A model with a reader (`chatmem.adapter`) gets the layout that the reader was trained on: lines in the second person,
in the order in which they were said. Another small model reads best what it only has to continue, so its prompt puts
the best line last and begins the reply with that line's first words where the user asked a question (measured against
other forms in `docs/architecture.md`). Nothing is cut in silence: what did not fit is told in
`Prompt.notice`. Knows nothing of how lines are found or replies are made.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict

from chatmem.by_name import as_told_to, own_name
from chatmem.dated import as_past, dated, spoken
from chatmem.hops import asked_apart, names_in
from chatmem.interface import Recollection, Turn
from chatmem.judgement import judge
from chatmem.language_model import LanguageModel, Message
from chatmem.languages import language_of, quoted
from chatmem.sentences import (
    asks_about_assistant,
    asks_about_thing,
    asks_for_own_fact,
    asks_whether_user,
    is_personal,
    words,
)
from chatmem.tension import in_tension
from chatmem.times import end_of, holds

PromptForm = Literal["auto", "specification"]
SPECIFICATION = "You have the following memories: {memories}. User says: {input}"

MAX_PROMPT_TOKENS = 2048  # a longer prompt makes a user on a CPU wait
MEMORY_SHARE = 0.25  # of the prompt, at most, for memory lines
CERTAIN = 0.5  # cosine from which the best line surely is what a question is about

SURE = 0.8  # probability from which a reader does not get to say that it was not told: 98% of such lines answer
NOT_TOLD = "I don't know, you haven't told me"
_SYSTEM = "You are a helpful assistant."
_EXAMPLE: list[Message] = [  # shows a small model what to do with notes; its values are nobody's
    {"role": "user", "content": "Notes:\n- Your bike is blue.\n- You live in Madrid.\n\nWhere do I live?"},
    {"role": "assistant", "content": "You live in Madrid."},
]
_YES_OR_NO = re.compile(
    r"^\W*(?:(?:and|so|but|ok|okay|hey)\W+)?(?:is|are|am|was|were|do|does|did|have|has|can|could|will)\b(?!.* or )",
    re.I,
)
_DENIAL_WORDS = 8
_NEGATION = re.compile(r"\b(?:not|no longer|never|any ?more|stopped|gave up|quit)\b|n['’]t\b", re.I)
_ROLES = {"user": "User", "assistant": "Assistant"}


class StreamOptions(TypedDict):
    """What a language model is told beside the text, as `LanguageModel.stream` names it."""

    reader: bool
    copied: str
    avoided: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the model reads, and what came of the parts.

    `text` ends with `opening`, the words that the reply begins with. `recollections` are the lines that are in the
    text. `stops` end the reply. `reader` says that it is for the reader. `copied` is the line that `opening` is taken
    from. `avoided` is how the reply shall not begin. `notice` tells the user what did not fit.
    """

    text: str
    opening: str = ""
    recollections: tuple[Recollection, ...] = ()
    stops: tuple[str, ...] = ()
    notice: str = ""
    reader: bool = False
    copied: str = ""
    avoided: str = ""

    def options(self) -> StreamOptions:
        """Return what `LanguageModel.stream` is to know beside text and stops."""
        return {"reader": self.reader, "copied": self.copied, "avoided": self.avoided}


def prompt_budget(model: LanguageModel, reply_tokens: int) -> int:
    """Return the tokens that a prompt may have, so that prompt and reply fit into the model's window."""
    return min(max(model.window_tokens - reply_tokens, model.window_tokens // 2), MAX_PROMPT_TOKENS)


def fit_history(model: LanguageModel, history: Sequence[Turn], user_input: str, budget: int) -> int:
    """Return how many of the newest turns fit beside the user's line and a full share of memory lines."""
    frame = model.count_tokens(_render(model, [], "", [], "auto")) + 64  # the example and the notes' own words
    left = budget * (1 - MEMORY_SHARE) - frame - model.count_tokens(user_input)
    count = 0
    for turn in reversed(history):
        left -= model.count_tokens(turn.text) + 8  # the template's marks around a turn
        if left < 0:
            break
        count += 1
    return count


def build_prompt(
    model: LanguageModel,
    user_input: str,
    recollections: Sequence[Recollection] = (),
    history: Sequence[Turn] = (),
    *,
    budget: int,
    form: PromptForm = "auto",
) -> Prompt:
    """Return the prompt for a user's line.

    Args:
        model: counts the tokens and knows its chat template; without one a plain dialogue is written.
        user_input: what the user just said; shortened, with a notice, only where it alone exceeds the budget.
        recollections: memory lines, best first; the worst are left out where they exceed their share.
        history: the turns of this session that fit (`fit_history`).
        budget: tokens that the prompt may have.
        form: "specification" for its literal prompt.
    """
    lines = _fit_lines(model, recollections, int(budget * MEMORY_SHARE))
    said, notice = _fit_input(model, user_input, budget // (3 if form == "specification" else 2))  # it says it twice
    reader = model.has_reader and bool(lines) and form == "auto"
    inside = getattr(model, "has_memory", False)  # what the user told is read from a state, not from lines
    begin = reader_opening if reader else reply_opening
    opening = "" if form == "specification" or inside else begin(user_input, lines)
    turns = [] if inside else list(history)
    text = _render(model, lines, said, turns, form)
    while turns and model.count_tokens(text + opening) > budget:
        turns.pop(0)
        text = _render(model, lines, said, turns, form)
    stops = [] if model.has_chat_template else ["\nUser:", "\nAssistant:", "\n\n"]
    if not model.has_chat_template and judge(said) == "fact":
        stops.append("\n")  # after a few words on what was told, a base model would go on with the notes
    if opening == NOT_TOLD or (reader and opening and opening == whole_answer(user_input, lines)):
        stops += [". ", "! ", "? ", "。", "\n"]  # there is no more to say
    copied = as_said_to_user(lines[0]) if lines and opening and not reader else ""
    avoided = NOT_TOLD if reader and not opening and lines[0].score >= SURE and judge(said) == "question" else ""
    return Prompt(text + opening, opening, tuple(lines), tuple(stops), notice, reader, copied, avoided)


def reply_opening(user_input: str, lines: Sequence[Recollection]) -> str:
    """Return the words that the reply begins with, where a question asks for something that only the user can know.

    With memory lines these are the first two words of the best one; without any, the words of somebody who was not
    told. Left to itself, a small model makes up a home, a name and a cat.
    """
    question = (user_input.strip().splitlines() or [""])[-1]
    if not lines:
        return NOT_TOLD if asks_for_own_fact(user_input) else ""
    if judge(question) != "question" or (lines[0].score < CERTAIN and not is_personal(user_input)):
        return ""
    words = as_said_to_user(lines[0]).split()
    return " ".join(words[: min(2, len(words) - 1)])


def reader_opening(user_input: str, lines: Sequence[Recollection]) -> str:
    """Return how the reader's reply begins: most often it needs no help.

    Where the best line denies what was asked with "Is it …?", it begins with the denial.
    """
    if whole := whole_answer(user_input, lines):
        return whole
    question = (user_input.strip().splitlines() or [""])[-1]
    best = lines[0]
    sure = best.score >= CERTAIN and bool(_YES_OR_NO.match(question)) and not _NEGATION.search(question)
    denied = _NEGATION.search(said := as_said_to_user(best)) if sure else None
    if denied is None:
        return ""
    begun = said[: denied.end()]  # with less of the line a reader goes on as if it affirmed
    return f"No, {begun[0].lower()}{begun[1:]}" if len(begun.split()) <= _DENIAL_WORDS else "No,"


def whole_answer(user_input: str, lines: Sequence[Recollection]) -> str:
    """Return the reply where the lines are the reply; "" where a reader has to make one of them.

    So it is for what was told about one thing ("What do you know about Petra?"), for several questions in one, and in
    languages that the model can hardly write, and where what happened may not fit what is always so.
    """
    question = (user_input.strip().splitlines() or [""])[-1]
    if language := language_of(question):
        best = lines[0]
        said = as_said_to_user(best) if language in ("zh", "ja") else quoted(best.text, language)
        return said if best.score >= CERTAIN else ""
    if asks_whether_user(question) and in_tension(lines):
        claim, event = lines[0], lines[1]
        told = " ".join(event.text.split())
        day = spoken(event.when.date())
        return f"{as_said_to_user(claim)} But on {day} you said: “{told}” So that may have changed."
    if asks_about_thing(question) and not asks_about_assistant(question):
        sure = [line for line in lines if line.score >= CERTAIN or names_in(question) & set(words(line.text))]
        return " ".join(as_said_to_user(line) for line in sure)
    return " ".join(as_said_to_user(line) for line in lines) if asked_apart(question) and len(lines) > 1 else ""


def _render(
    model: LanguageModel, lines: Sequence[Recollection], said: str, history: Sequence[Turn], form: PromptForm
) -> str:
    """Write the prompt, ready for the reply."""
    if form == "specification":
        memories = " ".join(line.text for line in lines)
        return _render_specification(
            model, SPECIFICATION.format(memories=memories or "none", input=said), said, history
        )
    if model.has_reader and lines:
        in_time = sorted(lines, key=lambda line: (line.when, line.session, line.turn))  # of two values the newer last
        before = [{"role": turn.speaker, "content": turn.text} for turn in history]
        return model.render(reader_messages(_notes(in_time), said, before))
    notes = "\n".join(f"- {note}" for note in _notes(lines)[::-1])  # the best one last
    if not model.has_chat_template:
        head = f"Notes about the user:\n{notes}\n\n" if notes else ""
        dialogue = [f"{_ROLES[turn.speaker]}: {turn.text}" for turn in history]
        return head + "\n".join([*dialogue, f"User: {said}", "Assistant:"])
    messages: list[Message] = [{"role": "system", "content": _SYSTEM}, *(_EXAMPLE if notes else [])]
    messages += [{"role": turn.speaker, "content": turn.text} for turn in history]
    messages.append({"role": "user", "content": f"Notes:\n{notes}\n\n{said}" if notes else said})
    return model.render(messages)


def _notes(lines: Sequence[Recollection]) -> list[str]:
    """Return lines as said to the user, who is called "you" where one of the lines says that a name is the user's."""
    called = {name for line in lines if (name := own_name(line.text))}
    notes = [as_said_to_user(line) for line in lines]
    for name in called:
        notes = [as_told_to(note, name) for note in notes]
    return [note[:1].upper() + note[1:] for note in notes]


def reader_messages(notes: Sequence[str], said: str, history: Sequence[Message] = ()) -> list[Message]:
    """Return the conversation that the reader is trained on: notes as said to the user, in the order of their times."""
    listed = "".join(f"- {note}\n" for note in notes)
    last = {"role": "user", "content": f"Notes:\n{listed}\n{said}"}
    return [{"role": "system", "content": _SYSTEM}, *history, last]


def _render_specification(model: LanguageModel, system: str, said: str, history: Sequence[Turn]) -> str:
    """Write the specification's prompt: literally for a model without a chat template, else as its system message."""
    if not model.has_chat_template:
        return "\n".join([*(f"{_ROLES[turn.speaker]}: {turn.text}" for turn in history), system, "Assistant:"])
    messages: list[Message] = [{"role": "system", "content": system}]
    messages += [{"role": turn.speaker, "content": turn.text} for turn in history]
    return model.render([*messages, {"role": "user", "content": said}])


def _fit_lines(model: LanguageModel, recollections: Sequence[Recollection], budget: int) -> list[Recollection]:
    """Return the best lines that fit into a number of tokens."""
    lines: list[Recollection] = []
    for line in recollections:
        budget -= model.count_tokens(line.text) + 4
        if budget >= 0:
            lines.append(line)
    return lines


def _fit_input(model: LanguageModel, text: str, budget: int) -> tuple[str, str]:
    """Return a user's line that fits, its beginning and its end where it is too long, and a notice of that."""
    tokens = model.count_tokens(text)
    if tokens <= budget:
        return text, ""
    half = len(text) * budget // tokens // 2
    while model.count_tokens(short := f"{text[:half]} … {text[-half:]}") > budget:
        half = half * 9 // 10
    return short, f"Your message has {tokens} tokens; the model reads the first and last {budget // 2} of them."


# Second person

_LEAD = re.compile(
    r"^(?:(?:hi|hello|hey|well|so|ok|okay|oh|actually|btw|by the way|fyi|just so you know|please|also|and"
    r"|remember that|remember|note that|note|don't forget that|don't forget)\b[\s,:!.-]*)+",
    re.I,
)
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_SECOND_PERSON = [
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\b[Ii]'?m\b", "you're"),
        (r"\b[Ii]'?ve\b", "you've"),
        (r"\b[Ii]'ll\b", "you'll"),
        (r"\b[Ii]'d\b", "you'd"),
        (r"\b[Ii] am\b", "you are"),
        (r"\b[Ii] was\b", "you were"),
        (r"\b[Mm]yself\b", "yourself"),
        (r"\b[Mm]ine\b", "yours"),
        (r"\b[Mm]y\b", "your"),
        (r"\bme\b", "you"),
        (r"\b[Ii]\b(?!\.\w)", "you"),
        (r"\b[Ww]e're\b", "you're"),
        (r"\b[Ww]e've\b", "you've"),
        (r"\b[Ww]e\b", "you"),
        (r"\b[Oo]urs\b", "yours"),
        (r"\b[Oo]ur\b", "your"),
        (r"\bus\b", "you"),
        (r"我们", "你们"),
        (r"我", "你"),
        (r"私|僕|俺", "あなた"),
        (rf"\b(is|was) (\d{{1,2}} (?:{_MONTHS})\b)", r"\1 on \2"),  # without "on" a reader turns 3 May into March
    )
]


def as_said_to_user(line: Recollection) -> str:
    """Return a memory line as the assistant would say it to the user: "I work at X" becomes "You work at X.".

    Words such as "tomorrow" become dates. A line whose time is over stands in the past: "You were in Rome until 3 May
    2026.". One that a newer one has superseded says until when it held: "You live in Porto. (until 3 May 2026)".
    """
    if line.speaker == "assistant":
        text = " ".join(line.text.replace("’", "'").split())
        return f"You were told: {text}"
    text = second_person(dated(line.text, line.when))
    if line.until is None:
        return text
    is_over = line.until == end_of(line.text, line.when, holds(line.text, line.when))
    return as_past(text) if is_over else f"{text} (until {spoken(line.until)})"


def second_person(text: str) -> str:
    """Return what the user said as a sentence about "you"."""
    text = " ".join(text.replace("’", "'").split())
    text = _LEAD.sub("", text) or text
    for pattern, replacement in _SECOND_PERSON:
        text = pattern.sub(replacement, text)
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?", "。", "！")) else f"{text}."
