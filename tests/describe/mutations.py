"""Does --check find what is wrong? mutations.py PROGRAM...: each table of the programs is made
wrong in one place after the other, as the memory of the program would have it, and every time there
must be a finding that was not there.

    moved    a row's offset is that of the next word
    width    a row's elements, or an integer that it reads, have another size or sign
    target   a row leads to another struct of the program
    dropped  all rows of one member are gone
"""

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/describe"))

import check  # noqa: E402
import tables as t  # noqa: E402

LEAST = 500


class Mutations:
    def __init__(self, file):
        self.tables = t.tables_of(file)
        self.image = self.tables.image
        self.checker = check.Checker(self.tables)
        self.done, self.missed = {}, []

    def findings(self, struct, rows):
        checker = check.Checker(self.tables)
        struct.table.rows = rows
        check.StructChecker(checker, struct, checker.type_of(struct)).check()
        return {f.text for f in checker.findings}

    def run(self):
        for struct in self.tables.structs:
            type = self.checker.type_of(struct)
            if struct.table and struct.table.rows and type is not None and type.record:
                self.layout = struct.unit.find("haul_field").record
                self.struct(struct, list(struct.table.rows))

    def struct(self, struct, rows):
        before = self.findings(struct, rows)

        def note(kind, row, now):
            self.done[kind] = self.done.get(kind, 0) + 1
            if not self.findings(struct, now) - before:
                self.missed.append(f"{struct.place}: {struct.name}.{row.name}: {kind}")
            struct.table.rows = rows

        def changed(row, path, pointer=None, **how):
            """The rows as they are read with one word of the image changed."""
            member, offset = self.layout.member(path)
            at = row.address + offset
            if pointer is not None:
                old = self.image.pointer(at)
                self.image.write_pointer(at, pointer)
            else:
                old = self.image.integer(at, member.size)
                self.image.write(at, member.size, how["to"](old))
            now = self.tables._read_rows(struct.unit, struct.table.address, len(rows))
            if pointer is not None:
                self.image.write_pointer(at, old)
            else:
                self.image.write(at, member.size, old)
            return now

        for row in rows:
            if self.checker.type_of(struct).record.member(row.name) is None:
                continue
            note("moved", row, changed(row, "offset", to=lambda n: n + self.image.word))
            if self.has_width(struct, row):
                note("width", row, changed(row, "element_bytes", to=lambda n: n * 2))
            if row.count.kind == 1 and row.count.fields:
                note("width", row,
                     changed(row, "count.field[0].bytes", to=lambda n: 4 if n == 8 else 8))
                note("width", row, changed(row, "count.field[0].sign", to=lambda n: not n))
            if row.when.kind in (t.WHEN_FIELD, t.WHEN_NOT):
                note("width", row,
                     changed(row, "when.field.bytes", to=lambda n: 2 if n != 2 else 4))
            other = self.other_target(struct, row)
            if other:
                note("target", row, changed(row, "target", pointer=other))
        for row in rows:
            if self.must_have_a_row(struct, row):
                note("dropped", row, [r for r in rows if r.name != row.name])

    def pointee(self, struct, row):
        member, _ = self.checker.type_of(struct).record.member(row.name)
        type = member.type.element()
        for _ in range(max(row.levels, 1)):
            if type.kind != "pointer":
                return None
            type = type.target
        return type

    def has_width(self, struct, row):
        """Only a pointer's type tells the width of what it leads to."""
        type = self.pointee(struct, row) if row.kind == t.POINTER else None
        return type is not None and type.kind in ("integer", "float", "record") and type.size > 1 \
            and row.element_bytes and not row.base and not row.base_fn \
            and not row.type_switch.kind \
            and (not row.target or self.checker.target_of(row.target))

    def other_target(self, struct, row):
        """The handle of a struct that the pointer cannot lead to."""
        type = self.pointee(struct, row) if row.kind == t.POINTER else None
        if row.kind == t.EMBED:
            type = self.checker.type_of(struct).record.member(row.name)[0].type.element()
        if type is None or type.kind != "record" or not row.target or row.base_fn or \
                self.checker.target_of(row.target) is None:
            return None
        for handle in self.checker.by_handle:
            target = self.checker.target_of(handle)
            if target is not None and target.kind == "record" and target.size != type.size and \
                    not check.lies_in(type, target, -row.base) and \
                    not check.lies_in(target, type, 0):
                return handle
        return None

    def must_have_a_row(self, struct, row):
        """Bytes without a row travel as they are: only pointers need one, and arms beside them."""
        member, _ = self.checker.type_of(struct).record.member(row.name)
        return member.type.has_pointers()


def main():
    done, missed = {}, []
    for file in sys.argv[1:]:
        mutations = Mutations(file)
        mutations.run()
        missed += mutations.missed
        for kind, count in mutations.done.items():
            done[kind] = done.get(kind, 0) + count
    total = sum(done.values())
    print(f"{total} mutations ({', '.join(f'{k} {n}' for k, n in sorted(done.items()))}), "
          f"{len(missed)} not found")
    print("".join(f"    {m}\n" for m in missed), end="")
    good = not missed and total >= LEAST
    print(f"{int(good)} passed, {int(not good)} failed")
    return not good


if __name__ == "__main__":
    sys.exit(main())
