"""Haul in gdb: where does a pointer come from?

    (gdb) source haul.py
    (gdb) haul where p->next
    0x7ffff7c91050 comes from 0x5555555592a0: root.next

The pointer is an address on a device, or in a graph or an arena on the host. Shipments are found
through their devices: those in variables of type `haul_device *` of any frame of the thread, or
the one that is named: `haul where p->next, app->device`. Arenas that have not been shipped are
found through variables of type `haul_arena *`.

The command calls functions of Haul in the program: haul_device_where, malloc and free. So it needs
a live process, stopped outside of Haul's own calls and of malloc. A kernel of a strict launch on
the host device runs in a child that cannot reach Haul's memory: set HAUL_HOST_STRICT=0 to stop in
one.
"""
import gdb

PATH_BYTES = 512  # HAUL_PATH_BYTES
BUSY = -3  # HAUL_ERROR_BUSY


def call(function, *arguments):
    """Calls a function of the program, whose debug information may be missing."""
    types = {int: 'unsigned long'}
    passed = ', '.join('(%s)%#x' % (types[type(a)], a) for a in arguments)
    formal = ', '.join(types[type(a)] for a in arguments)
    return int(gdb.parse_and_eval('((unsigned long (*)(%s))%s)(%s)' % (formal, function, passed)))


def signed(status):
    """A haul_status is an int."""
    return (status & 0xffffffff ^ 0x80000000) - 0x80000000


class Memory:
    """Memory of the program, for results."""

    def __init__(self, size):
        self.size = size

    def __enter__(self):
        self.address = call('malloc', self.size)
        if not self.address:
            raise gdb.GdbError('The program has no memory left.')
        return self

    def __exit__(self, *_):
        call('free', self.address)

    def bytes(self, first, end):
        return gdb.selected_inferior().read_memory(self.address + first, end - first).tobytes()

    def text(self, first, end):
        return self.bytes(first, end).split(b'\0')[0].decode(errors='replace')


class Careful:
    """A call runs its own thread alone, and a signal in it ends the call, not the program."""

    settings = (('unwindonsignal', 'on'), ('scheduler-locking', 'on'))

    def __enter__(self):
        self.before = []
        for name, value in self.settings:
            try:
                before = gdb.parameter(name)
                gdb.execute('set %s %s' % (name, value), to_string=True)
                self.before.append((name, before))
            except gdb.error:
                pass  # this target has no such setting

    def __exit__(self, *_):
        for name, before in self.before:
            value = {True: 'on', False: 'off'}.get(before, before)
            gdb.execute('set %s %s' % (name, value), to_string=True)


def blocks():
    """Each block of names that some frame of the thread sees, with its frame."""
    seen = set()
    frame = gdb.newest_frame()
    while frame:
        try:
            block = frame.block()
        except RuntimeError:
            block = None  # a function without debug information
        while block:
            shared = block.is_global or block.is_static
            key = (block.start, block.end, None if shared else frame.level())
            if key not in seen:
                seen.add(key)
                yield frame, block
            block = block.superblock
        frame = frame.older()


def is_pointer_to(type_, name):
    type_ = type_.strip_typedefs()
    return type_.code == gdb.TYPE_CODE_PTR and type_.target().strip_typedefs().name == name


def variables(name):
    """The values of all variables of type `NAME *`, with the variables' names."""
    found = []
    for frame, block in blocks():
        for symbol in block:
            if not symbol.is_variable and not symbol.is_argument or \
                    not is_pointer_to(symbol.type, name):
                continue
            try:
                value = int(symbol.value(frame) if symbol.needs_frame else symbol.value())
                gdb.selected_inferior().read_memory(value, 8)
            except gdb.error:
                continue  # it has no value here, or no object
            if value not in [v for v, _ in found]:
                found.append((value, symbol.name))
    return found


def in_shipments(pointer, devices):
    """Asks each device. Answers a sentence, or None."""
    word = gdb.lookup_type('void').pointer().sizeof
    with Memory(word + PATH_BYTES) as result:
        for device in devices:
            status = signed(call('haul_device_where', device, pointer, result.address,
                                 result.address + word))
            if status == BUSY:
                raise gdb.GdbError('A call of Haul is under way: step out of it first.')
            if status:
                continue
            order = 'big' if 'big' in gdb.execute('show endian', to_string=True) else 'little'
            host = int.from_bytes(result.bytes(0, word), order)
            path = (result.text(word, result.size) or
                    'the graph has changed, and leads there no more')
            if host == pointer:
                return '%#x is %s' % (pointer, path)
            return '%#x comes from %#x: %s' % (pointer, host, path)
    return None


def in_arenas(pointer):
    for arena, name in variables('haul_arena'):
        if call('haul_arena_contains', arena, pointer) & 0xffffffff:
            return ('%#x lies in the arena `%s`, which no device that was found has' %
                    (pointer, name))
    return None


class Haul(gdb.Command):
    """Commands for programs that use Haul."""

    def __init__(self):
        super().__init__('haul', gdb.COMMAND_DATA, prefix=True)


class Where(gdb.Command):
    """Shows the host object that a pointer leads to, and its path.

haul where POINTER
haul where POINTER, DEVICE

POINTER is an address on a device, or in a graph or arena on the host. Without DEVICE all variables
of type `haul_device *` in the thread's frames are tried."""

    def __init__(self):
        super().__init__('haul where', gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        try:
            self.show(argument)
        except gdb.error as error:
            raise gdb.GdbError(str(error))

    @staticmethod
    def show(argument):
        pointer, _, device = argument.rpartition(',') if ',' in argument else (argument, '', '')
        if not pointer.strip():
            raise gdb.GdbError('haul where POINTER, or haul where POINTER, DEVICE')
        address = int(gdb.parse_and_eval(pointer)) & (2 ** 64 - 1)
        devices = [int(gdb.parse_and_eval(device))] if device else \
            [value for value, _ in variables('haul_device')]
        with Careful():
            found = in_shipments(address, devices) if devices else None
            found = found or in_arenas(address)
        if found:
            print(found)
        elif not devices:
            print('No variable of type `haul_device *` is in sight: haul where POINTER, DEVICE')
        else:
            print('%#x belongs to no shipment of %d device%s' %
                  (address, len(devices), '' if len(devices) == 1 else 's'))


Haul()
Where()
