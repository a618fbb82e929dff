"""Answers: what no header says. One statement a line (docs/describing-with-the-tool.md):

    mesh.points = count nv * dim
    node.u      = union kind { BRANCH: child, LEAF: text } else raw
    cases numbers { REAL: double, COMPLEX: double[2] }
    include "mesh_functions.h"
    struct expr with .alignment = 16
"""

import fnmatch
import re
from dataclasses import dataclass, field
from typing import Dict, List, Optional, Tuple

from model import Place, Stop

# Words that begin a part of an answer; those of the first row take an argument.
WITH_ARGUMENT = ("count", "bytes", "until", "terminated by", "end of", "of", "when", "switch",
                 "in", "base", "case", "with")
ALONE = ("one", "string", "terminated", "external", "borrowed", "opaque", "skip", "none",
         "maybe static", "copyin", "copyout", "create", "else raw", "each")
TWO = ("terminated by", "end of", "maybe static", "else raw")
TOKEN = re.compile(r"\s*([A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)*|\"[^\"]*\"|'[^']*'|\d\w*|"
                   r"<<|>>|<=|>=|==|!=|&&|\|\||.)", re.S)
NAME = r"[\w\s:*?\[\]<>,-]+?"


@dataclass
class Level:
    """What one pointer leads to, of a field that may have several levels of pointers."""
    how: str = ""  # one, count, bytes, until, string, terminated
    argument: str = ""


@dataclass
class Answer:
    place: Place
    text: str
    levels: List[Level] = field(default_factory=list)
    of: str = ""  # the target's type
    when: str = ""
    case: Tuple[str, str] = ()  # (tag, value)
    switch: Tuple[str, str] = ()  # (expression, name of the cases)
    base: str = ""  # the member of the target that the pointer leads to
    end_of: str = ""  # the pointer whose array ends here in the copy
    instead: str = ""  # external, opaque, skip, none: in place of following
    flags: List[str] = field(default_factory=list)
    more: str = ""  # members as C writes them
    arms: List[Tuple[str, str]] = field(default_factory=list)  # of a union: (condition, path)
    tag: str = ""
    used: bool = False


@dataclass
class Answers:
    fields: List[Tuple[str, str, Answer]] = field(default_factory=list)  # struct, path, answer
    cases: Dict[str, List[Tuple[str, str, str]]] = field(default_factory=dict)
    structs: Dict[str, str] = field(default_factory=dict)
    includes: List[str] = field(default_factory=list)

    def of(self, names: List[str], path: str) -> List[Answer]:
        """The answers for a field of the struct that has these names."""
        found = []
        for struct, answered, answer in self.fields:
            if answered == path and any(fnmatch.fnmatchcase(n, struct) for n in names):
                answer.used = True
                found.append(answer)
        return found

    def paths_below(self, names: List[str], path: str) -> bool:
        return any(answered.startswith(path + ".") and
                   any(fnmatch.fnmatchcase(n, struct) for n in names)
                   for struct, answered, _ in self.fields)

    def unused(self) -> List[Answer]:
        return [a for _, _, a in self.fields if not a.used]


def read(file: str, answers: Answers):
    with open(file, encoding="utf-8") as stream:
        lines = stream.read().split("\n")
    statement, first = "", 0
    for number, line in enumerate(lines, 1):
        line = re.sub(r"(^|\s)#.*", "", line)
        first = first if statement else number
        statement += line.rstrip("\\") + " "
        if line.endswith("\\") or sum(statement.count(c) for c in "({") > sum(
                statement.count(c) for c in ")}"):
            continue
        if statement.strip():
            add(statement.strip(), Place(file, first), answers)
        statement = ""
    if statement.strip():
        raise Stop(f"{file}:{first}: a brace or parenthesis is not closed")


def add(text: str, place: Place, answers: Answers):
    match = re.fullmatch(r"include\s+(\"[^\"]+\"|<[^>]+>)", text)
    if match:
        answers.includes.append(match.group(1))
        return
    match = re.fullmatch(r"cases\s+(\w+)\s*\{(.*)\}", text, re.S)
    if match:
        answers.cases[match.group(1)] = [case(part, place) for part in split(match.group(2), ",")]
        return
    match = re.fullmatch(rf"({NAME})\s+with\s+(.+)", text, re.S)
    if match and "=" not in match.group(1) and "." not in match.group(1):
        answers.structs[match.group(1).strip()] = match.group(2).strip()
        return
    match = re.fullmatch(rf"({NAME})\.([\w.]+)\s*=\s*(.+)", text, re.S)
    if match:
        struct, path, what = match.group(1).strip(), match.group(2), match.group(3)
        answers.fields.append((struct, path, parse(what, place)))
        return
    match = re.fullmatch(rf"({NAME})\s*=\s*(union\b.+)", text, re.S)  # a nameless union
    if match:
        answers.fields.append((match.group(1).strip(), "", parse(match.group(2), place)))
        return
    raise Stop(f"{place}: this is no answer: {text}")


def case(part: str, place: Place):
    value, colon, type = part.partition(":")
    base = ""
    if not colon:
        raise Stop(f"{place}: a case is VALUE: TYPE, not '{part}'")
    match = re.fullmatch(r"(.+?)\s+base\s+([\w.]+)", type.strip())
    if match:
        type, base = match.group(1), match.group(2)
    return value.strip(), type.strip(), base


def split(text: str, at: str) -> List[str]:
    """The parts between separators that stand in no parentheses."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "([{") - (c in ")]}")
        if c == at and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [p.strip() for p in parts if p.strip()]


def parse(text: str, place: Place) -> Answer:
    """The right side of an answer, or the text of an annotation."""
    text = " ".join(text.split())
    answer = Answer(place, text)
    match = re.fullmatch(r"union\s+([\w.]+)\s*\{(.*)\}\s*(else raw)?", text)
    if match:
        answer.tag = match.group(1)
        answer.flags = [match.group(3)] if match.group(3) else []
        for part in split(match.group(2), ","):
            value, colon, arm = part.rpartition(":")
            if not colon:
                raise Stop(f"{place}: an arm is VALUE: FIELD, not '{part}'")
            answer.arms.append((value.strip(), arm.strip()))
        return answer
    answer.levels.append(Level())
    for word, argument in clauses(text, place):
        take(answer, word, argument, place)
    if not answer.levels[-1].how and len(answer.levels) > 1:
        answer.levels[-1].how = "one"
    return answer


def take(answer: Answer, word: str, argument: str, place: Place):
    if word == "each":
        answer.levels.append(Level())
    elif word in ("one", "string", "terminated", "terminated by", "count", "bytes", "until"):
        if answer.levels[-1].how:
            raise Stop(f"{place}: '{answer.levels[-1].how}' and '{word}' exclude each other")
        answer.levels[-1] = Level(word, argument)
    elif word in ("external", "opaque", "skip", "none"):
        answer.instead = word
    elif word == "case":
        tag, _, value = argument.partition(" ")
        answer.case = (tag, value.strip())
    elif word == "switch":
        answer.switch = (argument, "")
    elif word == "in":
        answer.switch = (answer.switch[0] if answer.switch else "", argument)
    elif word in ("of", "when", "base", "end of"):
        setattr(answer, word.replace(" ", "_"), argument)
    elif word == "with":
        answer.more = argument
    else:
        answer.flags.append(word)


def clauses(text: str, place: Place):
    """(word, argument) for each part. An argument has at least one token, so a field may be called
    as a word is; in parentheses no word begins a part."""
    tokens = [m for m in TOKEN.finditer(text) if m.group(1).strip()]
    words = []  # (word, index of its first token, index behind it)
    i = depth = 0
    while i < len(tokens):
        token, pair = tokens[i].group(1), " ".join(t.group(1) for t in tokens[i:i + 2])
        depth += (token in "([{") - (token in ")]}")
        behind = words and words[-1][2] == i and words[-1][0] in WITH_ARGUMENT
        word = pair if pair in TWO else token
        if depth == 0 and not behind and word in WITH_ARGUMENT + ALONE:
            words.append((word, i, i + len(word.split())))
            if word == "with":
                break
            i += len(word.split())
        elif depth == 0 and not words and token != ",":
            raise Stop(f"{place}: '{token}' is no word of an answer, in: {text}")
        else:
            i += 1
    for (word, _, begin), after in zip(words, words[1:] + [("", len(tokens), 0)]):
        argument = ""
        if begin < after[1]:
            last = tokens[after[1] - 1] if word != "with" else tokens[-1]
            argument = text[tokens[begin].start(1):last.end(1)].rstrip(" ,")
        if bool(argument) != (word in WITH_ARGUMENT):
            raise Stop(f"{place}: '{word}' " + (f"takes nothing, not '{argument}'" if argument
                                                else "of what?") + f" In: {text}")
        yield word, argument
