"""From records and answers to rows. What no answer decides becomes a question, never a guess."""

import re
from dataclasses import dataclass, field
from typing import Dict, List, Optional, Tuple

import answers as answering
from answers import Answer, Answers
from model import Field, Place, Record, Stop, Type, identifier, members, without_indices

PATH = r"[A-Za-z_]\w*(?:\[\d+\])*(?:\s*\.\s*[A-Za-z_]\w*(?:\[\d+\])*)*"
CONSTANT = r"-?\s*\(?\s*-?\s*\w+\s*\)?"
ELEMENTS_MAX = 64  # of an array whose elements get rows each
COUNTERS = ("n", "num", "len", "count", "size", "cnt", "nr", "max", "cap", "used", "top", "total")
TAGS = ("type", "kind", "tag", "flag", "which", "mode", "op")


@dataclass
class Row:
    form: str
    struct: str
    path: str
    arguments: List[str] = field(default_factory=list)
    members: List[str] = field(default_factory=list)


@dataclass
class Question:
    place: Place
    path: str
    type: str
    ask: str
    candidates: List[str]


@dataclass
class Described:
    record: Optional[Record]  # None: a type without pointers
    name: str
    handle: str
    rows: List[Row] = field(default_factory=list)
    functions: List[Tuple[str, str, str]] = field(default_factory=list)  # name, struct, expression
    more: str = ""
    stands_for: str = ""  # the type, if `name` is made for it: commas would divide arguments


@dataclass
class Arm:
    """A field that counts while a condition holds: `text`, an expression over the struct."""
    text: str = ""
    else_raw: bool = False


class Plan:
    """Everything that is reached from the roots."""

    def __init__(self, reader, answers: Answers, roots: List[str]):
        self.reader, self.answers = reader, answers
        self.described: Dict[str, Described] = {}
        self.questions: List[Question] = []
        self.cases_used: List[str] = []
        self.roots = []
        for root in roots:
            type = reader.find(root)
            if type is None:
                raise Stop(f"there is no complete type '{root}' in what was read")
            self.roots.append(self._described(type))
        for name in self._waiting():
            Rows(self, self.described[name]).make()
        wrong = [f"{a.place}: no field that is reached has this answer: {a.text}"
                 for a in answers.unused()]
        if wrong and not self.questions:
            raise Stop("\n".join(wrong))

    def _waiting(self):
        done = set()
        while True:
            names = [n for n in self.described if n not in done]
            if not names:
                return
            done.add(names[0])
            yield names[0]

    def _described(self, type: Type) -> Described:
        record = type.record if type.kind == "record" else None
        name = record.name if record else type.name
        if record and not name:
            raise Stop(f"{record.place}: the struct has no name that a field could use")
        if name not in self.described:
            handle = identifier(name) + "_type"
            if any(d.handle == handle for d in self.described.values()):
                handle = identifier(name) + f"_type_{len(self.described)}"
            self.described[name] = Described(record, name, handle)
            if "<" in name:
                self.described[name].stands_for = name
                self.described[name].name = identifier(name)
        return self.described[name]

    def handle(self, type: Type) -> str:
        return "&" + self._described(type).handle

    def type_named(self, name: str, place: Place) -> Type:
        type = self.reader.find(name)
        if type is None:
            raise Stop(f"{place}: there is no complete type '{name}'")
        return Type(type.kind, name if type.kind != "record" else type.name, type.size,
                    type.signed, type.target, type.count, type.record)

    def use_cases(self, name: str, place: Place) -> str:
        if name not in self.answers.cases:
            raise Stop(f"{place}: no answer says 'cases {name} {{ ... }}'")
        if name not in self.cases_used:
            self.cases_used.append(name)
            for _, type, _ in self.answers.cases[name]:
                self._described(self.type_named(type, place))
        return name + "_cases"


class Rows:
    """The rows of one struct."""

    def __init__(self, plan: Plan, to: Described):
        self.plan, self.to, self.record = plan, to, to.record
        if to.record is None:
            return
        self.names = sorted({to.record.name, to.record.name.replace("struct ", "")})
        self.ends = set()

    def make(self):
        if self.record is None:
            return
        if self.record.trouble:
            raise Stop(f"{self.record.place}: {self.to.name} cannot be described: "
                       f"{self.record.trouble}")
        for struct, more in self.plan.answers.structs.items():
            if struct in self.names:
                self.to.more = more
        for path in members(self.record):
            for a in self.plan.answers.of(self.names, path):
                for level in a.levels:
                    if level.how == "until":
                        self.ends.add(self._field_named(level.argument, path, a))
        for path, (f, _) in members(self.record).items():
            for text in f.annotations:
                match = re.fullmatch(r"until\s+(.+)", text)
                if match:
                    self.ends.add(self._path(match.group(1), path))
        self._visit_all(self.record, "", Arm())

    def _field_named(self, name: str, near: str, answer: Answer) -> str:
        path = self._path(name, near)
        if path is None:
            raise Stop(f"{answer.place}: {self.to.name} has no field '{name}'")
        return path

    # ---- The fields in turn.

    def _visit_all(self, record: Record, prefix: str, arm: Arm):
        if record.is_union and any(f.type.has_pointers() for f in record.fields):
            self._union(record, prefix, arm)
            return
        for f in record.fields:
            self._visit(f, prefix, arm)

    def _visit(self, f: Field, prefix: str, arm: Arm):
        path = prefix + f.name
        found = self._answers(f, path) if f.name else []
        if found:
            for answer in found:
                self._row(f, path, answer, arm)
            return
        element = f.type.element()
        if plain(path) in self.ends:
            return
        if not f.type.has_pointers():
            if f.type.kind == "array" and f.type.count is None:
                self._ask(f, path, "How many elements does the array have that ends the object?",
                          self._count_candidates(f, path))
            elif arm.text and f.name:
                self._add("HAUL_RAW", path, [], self._conditions(arm, "", path))
            elif arm.text and element.kind == "record":
                self._visit_all(element.record, prefix, arm)
            return
        if element.kind == "record":
            self._embedded(f, path, arm)
        else:
            self._pointer(f, path, Answer(f.place, ""), arm)

    def _answers(self, f: Field, path: str) -> List[Answer]:
        found = self.plan.answers.of(self.names, plain(path))
        found = found or [answering.parse(t, f.place) for t in f.annotations]
        return [a for a in found
                if a.instead or a.flags or a.when or a.more or a.end_of or is_said(a)]

    def _embedded(self, f: Field, path: str, arm: Arm):
        element = f.type.element()
        record = element.record
        nameless = not f.name or not record.name
        inside = self.plan.answers.paths_below(self.names, path)
        if not (nameless or record.is_union or inside):
            self._add("HAUL_EMBED", path, [self.plan.handle(element)],
                      self._conditions(arm, "", path))
        elif f.type.kind != "array":
            self._visit_all(record, path + "." if f.name else path, arm)
        elif f.type.target is element and f.type.element_count() <= ELEMENTS_MAX:
            for i in range(f.type.count):
                self._visit_all(record, f"{path}[{i}].", arm)
        else:
            self._ask(f, path, "It is a long array of structs without a name, or of unions.",
                      ["opaque", "skip"])

    def _union(self, record: Record, prefix: str, arm: Arm):
        union = prefix.rstrip(".")
        chosen = [a for a in self.plan.answers.of(self.names, plain(union)) if a.tag]
        arms = {}
        for answer in chosen:
            for values, name in answer.arms:
                if not any(f.name == name for f in record.fields):
                    continue
                arms.setdefault(name, []).append(
                    Arm(self._arm_condition(answer, values, prefix), bool(answer.flags)))
        for f in record.fields:
            for text in f.annotations:
                case = answering.parse(text, f.place).case
                if case:
                    tag = self._path(case[0], prefix + f.name) or case[0]
                    arms.setdefault(f.name, []).append(Arm(f"{tag} == {case[1]}"))
        for f in record.fields:
            own = [a for a in self.plan.answers.of(self.names, plain(prefix + f.name))
                   if a.when or a.instead] if f.name else []
            if f.name in arms:
                for each in arms[f.name]:
                    self._visit(f, prefix, both(arm, each))
            elif own or (not f.name and not record.name):
                self._visit(f, prefix, arm)
            else:
                self._ask_arm(record, f, prefix)

    def _arm_condition(self, answer: Answer, values: str, prefix: str) -> str:
        tag = self._path(answer.tag, prefix)
        if tag is None:
            raise Stop(f"{answer.place}: {self.to.name} has no field '{answer.tag}'")
        low, dots, high = values.partition("..")
        if dots:
            return f"{low.strip()} <= {tag} && {tag} <= {high.strip()}"
        return " || ".join(f"{tag} == {v.strip()}" for v in values.split("|"))

    # ---- One row.

    def _row(self, f: Field, path: str, answer: Answer, arm: Arm):
        if answer.case and not arm.text:
            arm = Arm(f"{self._path(answer.case[0], path) or answer.case[0]} == {answer.case[1]}")
        if answer.instead == "none":
            return
        if answer.instead in ("opaque", "skip"):
            form = "HAUL_SKIP" if answer.instead == "skip" else "HAUL_RAW"
            self._add(form, path, [], self._common(answer, arm, path))
            return
        if answer.end_of:
            begin = self._path(answer.end_of, path)
            if begin is None:
                raise Stop(f"{answer.place}: {self.to.name} has no field '{answer.end_of}'")
            self._add("HAUL_END_OF", path, [begin], self._common(answer, arm, path))
            return
        if f.type.element().kind == "record" and f.type.kind != "array" or (
                f.type.kind == "array" and f.type.target.kind != "pointer"):
            self._tail_or_bytes(f, path, answer, arm)
            return
        self._pointer(f, path, answer, arm)

    def _tail_or_bytes(self, f: Field, path: str, answer: Answer, arm: Arm):
        level = answer.levels[0] if answer.levels else answering.Level()
        if f.type.kind == "array" and level.how == "count":
            more = self._common(answer, arm, path)
            if f.type.target.has_pointers():
                more.insert(0, f".target = {self.plan.handle(f.type.target)}")
            self._add("HAUL_TAIL", path, [self._count(level, path, answer)], more)
        elif f.type.has_pointers() and not level.how:
            self._add("HAUL_EMBED", path, [self.plan.handle(f.type.element())],
                      self._common(answer, arm, path))
        elif not level.how:
            self._add("HAUL_RAW", path, [], self._common(answer, arm, path))
        else:
            raise Stop(f"{answer.place}: {path} is no pointer: {answer.text}")

    def _pointer(self, f: Field, path: str, answer: Answer, arm: Arm):
        type = f.type.element()
        if f.type.kind == "array" and f.type.count is None:
            raise Stop(f"{f.place}: {self.to.name} ends in an array of pointers, for which there "
                       "is no form; make them members of a struct")
        depth, target = 0, type
        while target.kind == "pointer":
            depth, target = depth + 1, target.target
        more = self._common(answer, arm, path)
        if answer.instead == "external" or (target.kind == "function" and depth == 1
                                            and not is_said(answer)):
            self._add("HAUL_ADDRESS", path, [], more + [".ownership = HAUL_EXTERNAL"])
            return
        if "borrowed" in answer.flags:
            more.append(".ownership = HAUL_BORROWED")
            if not is_said(answer):
                self._add("HAUL_ADDRESS", path, [], more)
                return
        levels = list(answer.levels)
        if answer.of:
            pointee = self.plan.type_named(answer.of, answer.place)
        else:
            pointee = target
        if answer.switch:
            self._add("HAUL_ADDRESS", path, [],
                      self._level_members(levels, path, answer) + more +
                      [self._switch(answer, path)])
            return
        if not answer.of and not self._is_decided(levels, depth, target, f):
            self._ask(f, path, *self._question(f, path, depth, target))
            return
        if not is_said(answer) and target.kind == "record":
            counts = self._counts_named_after(path)
            if counts:
                self._ask(f, path, "Is it one object, or how many?",
                          [f"count {name}" for name in counts] + ["one"])
                return
        if not levels or (len(levels) == 1 and not levels[0].how):
            levels = [answering.Level("one")]
        while len(levels) < depth and not levels[-1].how == "bytes":
            levels.append(answering.Level("one"))
        self._form(f, path, levels, pointee, depth, answer, more)

    def _is_decided(self, levels, depth: int, target: Type, f: Field) -> bool:
        said = [level for level in levels if level.how]
        if depth == 0:
            return False
        if said and said[-1].how == "bytes":
            return True
        if target.kind in ("void", "incomplete", "function"):
            return False
        if target.kind == "record":
            return len(said) >= depth - 1 and not target.record.trouble
        return len(said) >= depth

    def _form(self, f, path, levels, pointee: Type, depth: int, answer: Answer, more):
        follows = pointee.has_pointers()
        counts = [self._count(level, path, answer) for level in levels]
        first, plain = levels[0], not answer.of and depth > 0
        if f.type.kind == "array":  # pointers in the struct itself
            lead = self._target(pointee, follows, plain)
            if first.how != "one":
                lead.append(f".count = {counts[0]}")
            self._add("HAUL_EACH" if plain and depth == 1 else "HAUL_ADDRESS", path, [],
                      lead + self._deeper(levels, counts) + more)
        elif plain and depth == 1 and first.how == "bytes":
            self._add("HAUL_BYTES", path, [counts[0]], more)
        elif plain and depth == 1 and first.how == "string" and not follows:
            self._add("HAUL_STRING", path, [], more)
        elif plain and depth == 1 and follows and first.how == "one":
            self._add("HAUL_OBJECT", path, [self.plan.handle(pointee)], more)
        elif plain and depth == 1 and follows:
            self._add("HAUL_OBJECTS", path, [self.plan.handle(pointee), counts[0]], more)
        elif plain and depth == 1:
            self._add("HAUL_ARRAY", path, [counts[0]], more)
        elif plain and depth == 2 and follows and levels[1].how == "one":
            self._add("HAUL_POINTERS", path, [self.plan.handle(pointee), counts[0]], more)
        elif plain and depth == 2 and not follows and levels[1].how == "string":
            self._add("HAUL_STRINGS", path, [counts[0]], more)
        elif plain and depth == 2 and not follows:
            self._add("HAUL_ARRAYS", path, [counts[0], counts[1]], more)
        else:
            lead = [f".levels = {len(levels)}"] if len(levels) > 1 else []
            lead += self._target(pointee, follows, False)
            if first.how != "one":
                lead.append(f".count = {counts[0]}")
            self._add("HAUL_ADDRESS", path, [], lead + self._deeper(levels, counts) + more)

    def _target(self, pointee: Type, follows: bool, known: bool) -> List[str]:
        if follows:
            return [f".target = {self.plan.handle(pointee)}"]
        if known:
            return []
        return [f".element_bytes = sizeof({pointee.name})"]

    def _deeper(self, levels, counts) -> List[str]:
        return [f".count{n} = {count}" for n, (level, count)
                in enumerate(zip(levels[1:], counts[1:]), 2) if level.how != "one"]

    def _level_members(self, levels, path, answer) -> List[str]:
        level = levels[0] if levels else answering.Level()
        return [f".count = {self._count(level, path, answer)}"] if level.how not in ("", "one") \
            else []

    def _switch(self, answer: Answer, path: str) -> str:
        expression, cases = answer.switch
        if not cases:
            raise Stop(f"{answer.place}: 'switch {expression}' lacks 'in' and the name of its "
                       "cases")
        table = self.plan.use_cases(cases, answer.place)
        tag = self._integer(expression, path)
        if tag:
            return f".type_switch = HAUL_SWITCH({self.to.name}, {tag}, {table})"
        name = self._function(expression, path, "kind")
        return f".type_switch = HAUL_SWITCH_FN({name}, {table})"

    def _common(self, answer: Answer, arm: Arm, path: str) -> List[str]:
        more = self._conditions(arm, answer.when, path)
        if "else raw" in answer.flags and ".else_raw = 1" not in more:
            more.append(".else_raw = 1")
        if "maybe static" in answer.flags:
            more.append(".maybe_static = 1")
        for flag in ("copyin", "copyout", "create"):
            if flag in answer.flags:
                more.append(f".transfer = HAUL_{flag.upper()}")
        if answer.base:
            more.append(f".base = HAUL_CONTAINER_OF({answer.of}, {answer.base})")
        if answer.more:
            more.append(answer.more)
        return more

    def _conditions(self, arm: Arm, when: str, path: str) -> List[str]:
        text = both(arm, Arm(when)).text
        if not text:
            return []
        return [f".when = {self._when(text, path)}"] + ([".else_raw = 1"] if arm.else_raw else [])

    def _add(self, form: str, path: str, arguments, more):
        self.to.rows.append(Row(form, self.to.name, path, arguments, more))

    # ---- Expressions over the fields of the struct.

    def _path(self, name: str, near: str) -> Optional[str]:
        """The field of this name beside `near`, or in a struct around it."""
        name = re.sub(r"\s", "", name)
        prefix = near
        while True:
            prefix = prefix.rpartition(".")[0]
            path = prefix + "." + name if prefix else name
            if plain(path) in members(self.record):
                return path
            if not prefix:
                return None

    def _integer(self, name: str, near: str) -> Optional[str]:
        """The path, if it names an integer that a row can read."""
        if not re.fullmatch(PATH, name.strip()):
            return None
        path = self._path(name, near)
        if path is None:
            return None
        f = members(self.record)[plain(path)][0]
        return path if f.type.kind == "integer" and f.bits is None else None

    def _is_constant(self, text: str, near: str) -> bool:
        return bool(re.fullmatch(CONSTANT, text.strip())) and not any(
            n in ("self", "here") or self._path(n, near) for n in re.findall(r"[A-Za-z_]\w*", text))

    def _count(self, level, near: str, answer: Answer) -> str:
        struct, text = self.to.name, without_parentheses(level.argument)
        text = re.sub(r"^- ", "-", text)  # as clang-format leaves it in an annotation
        if level.how in ("", "one"):
            return "HAUL_ONE"
        if level.how in ("string", "terminated"):
            return "HAUL_TERMINATED"
        if level.how == "terminated by":
            return f"HAUL_TERMINATED_BY({text})"
        if level.how == "until":
            return f"HAUL_UNTIL({struct}, {self._field_named(text, near, answer)})"
        if self._is_constant(text, near):
            return f"HAUL_FIXED({text})"
        factors = [self._integer(part, near) for part in text.split("*")]
        if all(factors) and len(factors) <= 3:
            return f"HAUL_COUNT({', '.join([struct] + factors)})"
        for form, sign, a, b in self._sums(text):
            path, other = self._integer(a, near), b.strip()
            if path and self._is_constant(other, near):
                return f"HAUL_COUNT_{form}({struct}, {path}, {sign}{other})"
        return f"HAUL_COUNT_FN({self._function(text, near, 'count')})"

    def _sums(self, text: str):
        for sign, form in (("+", "PLUS"), ("-", "PLUS"), ("*", "TIMES")):
            a, found, b = text.partition(sign)
            if found and a.strip() and b.strip():
                yield form, "-" if sign == "-" else "", a, b
                if sign != "-":
                    yield form, "", b, a

    def _when(self, text: str, near: str) -> str:
        struct = self.to.name
        for pattern, form in ((r"(.+?)==(.+)", "EQUALS"), (r"(.+?)!=(.+)", "DIFFERS"),
                              (r"([^&]+)&([^&]+)", "ANY_BIT"),
                              (r"!\s*\(([^&]+)&([^&]+)\)", "NO_BIT")):
            match = re.fullmatch(pattern, text.strip())
            if match:
                path = self._integer(match.group(1), near)
                if path and self._is_constant(match.group(2), near):
                    return f"HAUL_{form}({struct}, {path}, {match.group(2).strip()})"
        match = re.fullmatch(rf"({CONSTANT})<=\s*({PATH})\s*&&\s*({PATH})\s*<=\s*({CONSTANT})",
                             text.strip())
        if match and self._integer(match.group(2), near) and match.group(2) == match.group(3):
            path = self._integer(match.group(2), near)
            return f"HAUL_BETWEEN({struct}, {path}, {match.group(1).strip()}, " \
                   f"{match.group(4).strip()})"
        match = re.fullmatch(rf"(!?)\s*({PATH})", text.strip())
        if match and self._integer(match.group(2), near):
            form = "EQUALS" if match.group(1) else "DIFFERS"
            return f"HAUL_{form}({struct}, {self._integer(match.group(2), near)}, 0)"
        return f"HAUL_WHEN_FN({self._function(text, near, 'when')})"

    def _function(self, text: str, near: str, what: str) -> str:
        """The name of a function that answers the expression; one function for one expression."""
        expression = re.sub(rf"(?<![\w.>\"])({PATH})(?!\s*\()",
                            lambda m: self._of_self(m.group(1), near), text)
        for name, _, known in self.to.functions:
            if known == expression:
                return name
        taken = [name for name, _, _ in self.to.functions]
        name = base = f"{identifier(self.to.name)}_{identifier(near)}_{what}"
        while name in taken:
            name = f"{base}_{taken.count(name) + sum(t.startswith(base) for t in taken)}"
            taken.append(base)
        self.to.functions.append((name, self.to.name, expression))
        return name

    def _of_self(self, name: str, near: str) -> str:
        first = re.split(r"\s*\.\s*", name)[0]
        path = None if first in ("self", "here") else self._path(name, near)
        return f"self->{path}" if path else name

    # ---- Questions.

    def _ask(self, f: Field, path: str, ask: str, candidates: List[str]):
        path = f"{self.record.name}.{plain(path)}"
        if not any(q.path == path for q in self.plan.questions):
            self.plan.questions.append(Question(f.place, path, f.type.name, ask, candidates))

    def _ask_arm(self, record: Record, f: Field, prefix: str):
        union = plain(prefix.rstrip("."))
        name = f"{self.record.name}.{union}" if union else self.record.name
        if any(q.path == name for q in self.plan.questions):
            return
        inside = members(record)
        tags = [t for t in self._integers(union or f.name, TAGS)
                if (union and not t.startswith(union + ".")) or t not in inside][:3] or ["TAG"]
        arms = ", ".join(f"VALUE: {g.name or '...'}" for g in record.fields)
        self.plan.questions.append(Question(
            f.place, name, "union", f"Which value of which field says that '{f.name}' is meant?",
            [f"union {tag} {{ {arms} }}" for tag in tags]))

    def _question(self, f: Field, path: str, depth: int, target: Type):
        if depth > 1:
            each = "each string" if target.is_character else "each count N"
            each = "" if target.kind == "record" else " " + each
            return ("How many pointers are there, and what does each lead to?",
                    [c + each for c in self._count_candidates(f, path)])
        if target.kind in ("void", "incomplete"):
            what = "It does not say what it leads to."
            return what, [c.replace("count ", "bytes ", 1) for c in
                          self._count_candidates(f, path)[:2]] + ["one of TYPE", "opaque", "skip"]
        if target.kind == "function":
            return "It leads to functions.", ["external"]
        if target.kind == "record":
            return f"{target.record.name}: {target.record.trouble}.", ["opaque", "skip"]
        first = ["string"] if target.is_character else []
        return ("How many does it lead to?" if not first else "Is it a string, or how many bytes?",
                first + self._count_candidates(f, path) + ["one", "borrowed"])

    def _count_candidates(self, f: Field, path: str) -> List[str]:
        return [f"count {name}" for name in self._integers(path, COUNTERS)][:3] or ["count N"]

    def _counts_named_after(self, path: str) -> List[str]:
        """Integers beside the pointer `pins` whose names say that they count it: `npins`."""
        prefix, _, name = path.rpartition(".")
        stem = re.escape(re.sub(r"\[\d+\]", "", name).lower().rstrip("s")) + "e?s?"
        before, behind = "(?:n|num|nr|count|cnt|len)", "(?:n|num|nr|count|cnt|len|length|size)"
        pattern = re.compile(f"{before}_?(?:of_?)?{stem}|{stem}_?{behind}")
        return [beside for beside, (f, _) in members(self.record).items()
                if beside.rpartition(".")[0] == prefix and f.type.kind == "integer"
                and pattern.fullmatch(f.name.lower())]

    def _integers(self, near: str, words) -> List[str]:
        """Integers of the struct: first those whose names sound right, then the near ones."""
        prefix = near.rpartition(".")[0]
        stem = near.rpartition(".")[2].lower()
        ranked = []
        order = list(members(self.record))
        at = order.index(near) if near in order else 0
        for i, (path, (f, _)) in enumerate(members(self.record).items()):
            if f.type.kind != "integer" or f.type.size == 1 or f.bits is not None:
                continue
            name = f.name.lower()
            parts = re.split(r"_|(?<=[a-z])(?=[A-Z])", f.name)
            sounds = any(p.lower().startswith(w) and len(p) <= len(w) + 3 or p.lower().endswith(w)
                         for p in parts for w in words if p)
            score = abs(i - at) + (0 if sounds else 20) - (10 if stem[:4] in name else 0)
            ranked.append((score, path[len(prefix) + 1:] if prefix and path.startswith(prefix + ".")
                           else path))
        return [path for _, path in sorted(ranked)]


def plain(path: str) -> str:
    """"a[2].b" is answered as "a.b"."""
    return without_indices(path)[0]


def without_parentheses(text: str) -> str:
    """The expression in parentheses around all of it, or as it is."""
    text = text.strip()
    if text.startswith("(") and text.endswith(")"):
        depth = 0
        for i, c in enumerate(text):
            depth += (c == "(") - (c == ")")
            if depth == 0 and i < len(text) - 1:
                return text
        return without_parentheses(text[1:-1])
    return text


def is_said(answer: Answer) -> bool:
    return any(level.how for level in answer.levels) or bool(answer.of or answer.switch)


def both(a: Arm, b: Arm) -> Arm:
    if not a.text or not b.text:
        return Arm(a.text or b.text, a.else_raw or b.else_raw)
    return Arm(f"({a.text}) && ({b.text})", a.else_raw or b.else_raw)
