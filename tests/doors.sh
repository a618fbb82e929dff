#!/usr/bin/env bash
# What the library may touch, checked on its objects and its sources:
#
#   tests/doors.sh BUILD-FOLDER SCRATCH-FOLDER [objects]
#
# BUILD-FOLDER holds a static build by gcc; SCRATCH-FOLDER is for this script alone. "objects": only
# what the objects of this build say; the sources were checked with another one.
set -u
what=${3:-all}
mkdir -p "$2"
build=$(cd "$1" && pwd)
scratch=$(cd "$2" && pwd)
cd "$(dirname "$0")/.." || exit 1
objects=$build/CMakeFiles/haul.dir
passed=0 failed=0

# nothing NAME COMMAND...: passes when the command, which lists offenders, lists none.
nothing() {
    local name=$1
    shift
    "$@" >"$scratch/offenders" 2>&1
    if [ -s "$scratch/offenders" ]; then
        failed=$((failed + 1))
        echo "FAILED  $name"
        sed 's/^/    /' "$scratch/offenders"
    else
        passed=$((passed + 1))
        echo "ok      $name"
    fi
}

each_object() { # gives "PATH-IN-THE-TREE OBJECT"
    find "$objects" -name '*.c.o' | while IFS= read -r object; do
        file=${object#"$objects"/}
        file=${file%.o}
        [ -e "$file" ] || continue # left over from a file that is gone
        printf '%s\t%s\n' "$file" "$object"
    done
}

# ---- Doors: what each file may ask of the system. Everything else must be ours.

anywhere='mem(cpy|move|set|cmp|chr)|str(len|nlen|cmp|ncmp|chr|rchr|str)|v?snprintf'
compiler='_GLOBAL_OFFSET_TABLE_|__stack_chk_fail(_local)?|__cpu_(model|features2|indicator_init)'
compiler+='|__[a-z]+[sdt]i[2-5]|__x86\..*'

may_use() { # FILE
    case $1 in
    src/base/memory.c)
        echo 'malloc|free|posix_memalign|mmap|munmap|madvise|mprotect|msync|mlock2|munlock'
        echo '|__errno_location'
        ;;
    src/base/pool.c)
        echo 'pthread_(create|join|sigmask|attr_(init|destroy|setstacksize))'
        echo '|pthread_mutex_(init|lock|unlock|destroy)|pthread_cond_(init|wait|signal|destroy)'
        echo '|sched_(yield|getaffinity)|__sched_cpucount|sysconf|sig(fill|del)set|getpid'
        echo '|__errno_location'
        ;;
    src/base/clock.c) echo 'clock_gettime' ;;
    src/base/written.c) echo 'syscall|open(64)?|close|sysconf|__errno_location' ;;
    src/base/file.c)
        echo 'read|write|(open|lseek|mmap)(64)?|munmap|close|fsync|rename|unlink|getpid'
        echo '|__errno_location'
        ;;
    src/image/compression.c) echo 'ZSTD_[A-Za-z0-9_]+' ;;
    devices/host/maps.c) echo 'open(64)?|read|close|__errno_location' ;;
    devices/host/blocks.c) echo 'open(64)?|pread(64)?|close' ;;
    devices/host/process.c)
        echo '__sanitizer_get_(ownership|allocated_size)|mincore|sysconf|__errno_location'
        ;;
    devices/host/reach.c) echo 'mprotect|dl_iterate_phdr|getauxval|pthread_self|__errno_location' ;;
    devices/host/strict.c)
        echo 'mmap|mmap64|munmap|mprotect|fork|waitpid|prctl|sigaltstack|sigaction|sigaddset'
        echo '|sigemptyset|sigprocmask|_exit|atexit|__cxa_atexit|__dso_handle|fflush|setvbuf'
        echo '|__fpurge|stdout|__errno_location|pthread_mutex_(lock|unlock)|__(a|hwa|m|t)san_init'
        ;;
    devices/host/host.c)
        echo 'munmap|getenv|sysconf|strerror|getpid|__errno_location'
        echo '|pthread_mutex_(init|lock|unlock|destroy)'
        ;;
    devices/host/*)
        echo '(mmap|mremap)(64)?|munmap|madvise|mprotect|msync|memfd_create'
        echo '|(ftruncate|fallocate|getrlimit)(64)?|close|sysconf|strerror|getpid|__errno_location'
        echo '|pthread_mutex_(init|lock|unlock|destroy)'
        ;;
    devices/cuda/ranges.c) echo 'dlopen|dlsym|dlclose|getenv|sched_yield' ;;
    devices/cuda/mirror.c)
        echo 'cuda[A-Z][A-Za-z]*|haul__gpu_[a-z]+|mmap(64)?|mremap|munmap|__errno_location'
        ;;
    devices/cuda/*)
        echo 'cuda[A-Z][A-Za-z]*|haul__gpu_kernels_[a-z]+|clock_gettime|nanosleep|__errno_location'
        ;;
    *) echo 'nothing' ;;
    esac
}

undefined_symbols() {
    [ -n "$(each_object)" ] || echo "no objects under $objects"
    each_object | cut -f 2 | xargs -d '\n' -r nm --defined-only 2>/dev/null |
        awk 'NF == 3 { print $3 }' |
        sort -u >"$scratch/ours"
    each_object | while IFS=$'\t' read -r file object; do
        nm -u "$object" | awk '{ print $2 }' | grep -vxFf "$scratch/ours" |
            grep -vxE "$anywhere|$compiler|$(may_use "$file" | tr -d '\n')" | sed "s|^|$file uses |"
    done
}

# NVTX, which is a header with a table in it, stands in one file.
profiler_names() { # FILE
    [ "$1" = devices/cuda/ranges.c ] && echo '^nvtx|^InitializeInjectionNvtx2_fnptr$' || echo '^$'
}

foreign_names() {
    each_object | while IFS=$'\t' read -r file object; do
        nm -g --defined-only "$object" | awk '{ print $3 }' |
            grep -vE "^haul_|$(profiler_names "$file")" |
            sed "s|^|$file defines |"
    done
}

# Variables that live between calls would stand in .data, .bss or thread-local sections.
state() {
    each_object | grep -v '^devices/cuda/ranges\.c' | while IFS=$'\t' read -r file object; do
        size -A "$object" | awk -v file="$file" '
            $1 ~ /^\.(data|bss|tdata|tbss)(\.|$)/ && $1 !~ /^\.data\.rel\.ro/ && $2 > 0 {
                print file " has " $2 " bytes of state in " $1
            }'
    done
}

# The GPU's kernels are C++ to their compiler, but a C program must be able to link them: nothing of
# C++ at run time.
cxx_in_kernels() {
    [ -f "$build/haul_cuda_kernels.o" ] || return 0
    nm -u "$build/haul_cuda_kernels.o" | awk '{ print $2 }' | grep -vE '^(__)?cuda[A-Z]|^atexit$' |
        sed 's/^/the kernels use /'
}

# ---- Rooms: each knows only those before it, and its own.

rooms="base type map context describe layout walk validate chain pack audit graph arena device"
rooms="$rooms ship image environment"

upward_includes() {
    local room file name known=""
    for room in $rooms; do
        known="$known $room"
        [ -d "src/$room" ] || continue
        for file in src/"$room"/*.[ch]; do
            [ -e "$file" ] || continue
            sed -nE 's/^[[:space:]]*#[[:space:]]*include[[:space:]]+"([^"]+)".*/\1/p' "$file" |
                while IFS= read -r name; do
                    case " $known haul " in
                    *" ${name%%/*} "*) ;;
                    *)
                        [ "$name" = haul.h ] || [ -f "src/$room/$name" ] ||
                            echo "$file includes $name"
                        ;;
                    esac
                done
        done
    done
    for file in src/*/; do
        room=$(basename "$file")
        case " $rooms " in
        *" $room "*) ;;
        *) echo "src/$room is in no list of rooms: add it to tests/doors.sh" ;;
        esac
    done
}

# ---- Cycles. A file needs the file that defines what it uses; so does its room.

# gives "D FILE NAME" for each global name that a file defines, "U FILE NAME" for each that it uses
names_of_objects() {
    each_object | while IFS=$'\t' read -r file object; do
        nm "$object" | awk -v file="$file" '
            $(NF - 1) == "U" { print "U", file, $NF }
            NF == 3 && $2 ~ /^[BCDRTVW]$/ { print "D", file, $3 }'
    done
}

# The same of the files of a device that this build leaves out: a definition begins its line.
names_of_sources() { # FOLDER
    each_object | cut -f 1 >"$scratch/built"
    for file in "$1"/*.c; do
        grep -qxF "$file" "$scratch/built" && continue
        gcc -fpreprocessed -E -P "$file" 2>/dev/null | awk -v file="$file" '
            /^[a-z]/ && !/^(static|typedef)/ && !/;$/ && match($0, /haul_[a-z0-9_]+\(/) {
                print "D", file, substr($0, RSTART, RLENGTH - 1)
            }
            {
                for (; match($0, /haul_[a-z0-9_]+/); $0 = substr($0, RSTART + RLENGTH))
                    print "U", file, substr($0, RSTART, RLENGTH)
            }'
    done
}

# gives "FILE OTHER NAME": FILE uses NAME, which OTHER defines
links() {
    { names_of_objects; names_of_sources devices/cuda; } | sort -u >"$scratch/names"
    awk '
        $1 == "D" { owner[$3] = $2 }
        $1 == "U" { use[$2 " " $3] }
        END {
            for (pair in use) {
                split(pair, at, " ")
                if (owner[at[2]] != "" && owner[at[2]] != at[1])
                    print at[1], owner[at[2]], at[2]
            }
        }' "$scratch/names" | sort
}

# Of lines "A B NAME", those that lie on a cycle: B reaches A, too.
cycles() {
    awk '
        { needs[$1, $2] = needs[$1, $2] " " $3; node[$1]; node[$2]; reach[$1, $2] }
        END {
            for (k in node)
                for (i in node)
                    if ((i, k) in reach)
                        for (j in node)
                            if ((k, j) in reach)
                                reach[i, j]
            for (pair in needs) {
                split(pair, at, SUBSEP)
                if ((at[2], at[1]) in reach)
                    print at[1] " needs " at[2] ":" needs[pair]
            }
        }' "$1" | sort
}

file_cycles() {
    links >"$scratch/links"
    [ -s "$scratch/links" ] || echo "no links: nm gave none"
    cycles "$scratch/links"
}

room_cycles() {
    sed -E 's@/[^/ ]+ @ @; s@/[^/ ]+ @ @' "$scratch/links" | awk '$1 != $2' |
        sort -u >"$scratch/arrows"
    cycles "$scratch/arrows"
}

# ---- Headers. One declares the functions of one file, or of two or three with one subject.

# gives "FILE NAME" for each function that a header declares and does not define
declarations() {
    find src devices -name '*.h' | while IFS= read -r file; do
        gcc -fpreprocessed -dD -E -P "$file" 2>/dev/null | awk -v file="$file" '
            /^#/ {
                while (/\\$/ && getline > 0) continue
                next
            }
            {
                text = text " " $0
                if ((depth += gsub(/\{/, "{") - gsub(/\}/, "}")) > 0 || !/[;}] *$/)
                    next
            }
            text !~ /^ *(typedef|static|HAUL__INLINE|struct|union|enum) / &&
                match(text, /haul_[a-z0-9_]+\(/) {
                print file, substr(text, RSTART, RLENGTH - 1)
            }
            { text = "" }'
    done
}

# Functions of the CUDA kernels, and those of other builds, have no owner here.
hub_headers() {
    declarations >"$scratch/declared"
    [ -s "$scratch/declared" ] || echo "no declarations: gcc gave none"
    awk '
        FNR == NR { if ($1 == "D") owner[$3] = $2; next }
        !($2 in owner) || ($1, owner[$2]) in seen { next }
        { seen[$1, owner[$2]]; files[$1] = files[$1] " " owner[$2]; count[$1]++ }
        END {
            for (header in count)
                if (count[header] > 3)
                    print header " declares functions of " count[header] " files:" files[header]
        }' "$scratch/names" "$scratch/declared" | sort
}

# ---- Names. A name has one meaning, and a file name one room.

# gives "FILE NAME" for each type, constant and macro that a file defines, and for each inline
# function of ours. The system's macros begin with an underscore.
definitions() {
    find src include devices tools -name '*.[ch]' | while IFS= read -r file; do
        gcc -fpreprocessed -dD -E -P "$file" 2>/dev/null | awk '
            function words(text,    n, i, part) {
                n = split(text, part, ",")
                for (i = 1; i <= n; i++)
                    if (match(part[i], /[A-Za-z][A-Za-z0-9_]*/))
                        print substr(part[i], RSTART, RLENGTH)
            }
            /^#define [A-Za-z]/ {
                sub(/\(.*/, "", $2)
                words($2)
            }
            /^(typedef )?(struct|union|enum) [a-z0-9_]+ \{/ { words($(/^typedef/ ? 3 : 2)) }
            /^typedef / { is_type = 1 }
            /^typedef / && !/^typedef (struct|union|enum) / {
                text = $0
                sub(/ *__attribute__.*/, "", text)
                if (!sub(/.*\(\*/, "", text))
                    sub(/[[(;].*/, "", text)
                sub(/.* /, "", text)
                words(text)
            }
            /^\} *[a-z]/ && is_type { words($2) }
            /^ *(typedef )?enum ([a-z0-9_]+ )?\{/ { in_enum = 1; text = "" }
            in_enum && !/^#/ { text = text " " $0 }
            in_enum && /\}/ {
                gsub(/^[^{]*\{|\}.*/, "", text)
                words(text)
                in_enum = 0
            }
            /;$/ && !in_enum && !/^ / { is_type = 0 }
            /^(static|HAUL__INLINE) / && match($0, /haul_[a-z0-9_]+\(/) {
                print substr($0, RSTART, RLENGTH - 1)
            }' | sort -u | sed "s|^|$file |"
    done
}

names_twice() {
    definitions >"$scratch/definitions"
    [ -s "$scratch/definitions" ] || echo "no definitions: gcc gave none"
    awk '
        { files[$2] = files[$2] " " $1; count[$2]++ }
        END { for (name in count) if (count[name] > 1) print name " stands in" files[name] }' \
        "$scratch/definitions" | sort
}

stems_twice() {
    find src -name '*.[ch]' | sed -E 's@src/(.*)/(.*)\.[ch]$@\2 \1@' | sort -u | awk '
        { rooms[$1] = rooms[$1] " " $2; count[$1]++ }
        END { for (stem in count) if (count[stem] > 1) print stem " is a file of" rooms[stem] }' |
        sort
}

# A device stands on the public headers alone.
device_includes() {
    grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]+"' -r devices --include='*.[ch]' |
        grep -vE '"haul(\.h|/)' | grep -vE '"[a-z_]+\.h"'
}

# A new member of a struct that users fill must make it larger: old programs have no zeros in
# padding.
padded_structs() {
    echo '#include <haul/experimental.h>' | gcc -std=c99 -Iinclude -include haul.h -Wpadded \
        -fsyntax-only -x c - 2>&1 |
        grep -E 'warning:.*padd'
}

experiments_without_asking() {
    echo '#include <haul.h>' | gcc -std=c99 -Iinclude -E -P -x c - |
        grep -ohE '\<haul_(nursery|rebuild|device_layout|return_directly)\w*' | sort -u
}

vendor_names() {
    grep -rniE '\<(cuda|nvidia|nvlink|rocm|opencl|sycl|vulkan)|\<(hip|metal)\>' src \
        --include='*.[ch]' |
        head -n 20
}

# ---- Calls: the call graph of the unoptimised library. Calls through pointers are not seen.

call_one() { # FILE
    gcc -std=c99 -O0 -DHAUL_NO_CLONES -Iinclude -Isrc -fcallgraph-info=su -c "$1" \
        -o "$2/$(tr / - <<<"$1").o"
}
export -f call_one

# Each file's graph, in $scratch/calls.
call_graphs() {
    rm -rf "$scratch/calls"
    mkdir -p "$scratch/calls"
    printf '%s\n' src/*/*.c devices/host/*.c |
        xargs -P "$(nproc)" -I '{}' bash -c 'call_one "$@"' call_one '{}' "$scratch/calls"
    cat "$scratch/calls"/*.ci >"$scratch/graph"
}

# No cycle.
recursion() {
    sed -nE 's/^edge: \{ sourcename: "([^"]*)" targetname: "([^"]*)".*/\1 \2/p' "$scratch/graph" |
        sort -u >"$scratch/edges"
    [ -s "$scratch/edges" ] || echo "no call graph: gcc gave none"
    awk '$1 == $2 { print $1 " calls itself" }' "$scratch/edges"
    tsort "$scratch/edges" 2>&1 >/dev/null | sed 's/^tsort: /calls in a circle: /'
}

# The frames of the deepest chain of calls, return addresses included. Behind a call through a
# pointer (a thread's task, a device's verb, an allocator) stands a chain of its own: two of the
# deepest fit into 64 KiB, with 8 KiB left for the system.
stack_limit=$((28 * 1024))

deep_chains() {
    grep -oE '"[^"]*\(dynamic\)"' "$scratch/graph" | sed 's/$/ has a frame of any size/'
    [ -z "$(recursion)" ] || return 0
    awk -v limit="$stack_limit" '
        /^(node|edge):/ { split($0, word, "\"") }
        /^node:/ && match($0, /[0-9]+ bytes/) { own[word[2]] = substr($0, RSTART, RLENGTH) + 8 }
        /^edge:/ { callees[word[2]] = callees[word[2]] " " word[4] }
        function depth(f,    i, n, callee, d, most) {
            if (f in known)
                return known[f]
            n = split(callees[f], callee, " ")
            for (i = 1; i <= n; i++)
                if ((d = depth(callee[i])) > most)
                    most = d
            return known[f] = most + own[f]
        }
        END {
            for (f in own)
                if (depth(f) > limit)
                    print f " and what it calls have " depth(f) " bytes of frames"
        }' "$scratch/graph"
}

# ---- Documents: each message has its place, and each code its meaning.

# "FILE<tab>MESSAGE" for each text of more than one word, with \001 for a part that varies. Files
# that draw pictures or write types write no messages; nor is an invariant, or a status, a message,
# or a word of the text of types.
messages() {
    local file word='^ [^ ]+$|^(block|loop) [a-z]+=$'
    local others='/((dot|table|dump|listing|type_text|arena_check|layout_check|shipment_check)\.c'
    others="$others|shipment_table\.c|places_table\.c|base/status\.c|base/compiler\.h)\$"
    find src devices -name '*.[ch]' | grep -vE "$others" |
        while IFS= read -r file; do
            gcc -fpreprocessed -dD -E -P "$file" 2>/dev/null | sed "s/'\"'/' '/g" | tr '\n' ' ' |
                awk -v file="$file" -v word="$word" '{
                while (match($0, /"([^"\\]|\\.)*"( *(PRI[A-Za-z0-9]+|"([^"\\]|\\.)*"))*/)) {
                    text = substr($0, RSTART + 1, RLENGTH - 1)
                    $0 = substr($0, RSTART + RLENGTH)
                    gsub(/%" *PRI[A-Za-z0-9]+( *")?/, "\001", text)
                    gsub(/" *"/, "", text)
                    sub(/"$/, "", text)
                    gsub(/\\"/, "\"", text)
                    gsub(/%%?[0-9.*]*(ll|l|z)?[a-z]/, "\001", text)
                    if (text ~ /[a-z][a-z][a-z]/ && text ~ / / && text !~ word &&
                        text !~ /\\n|^ *"|^[a-z\001]*\(/)
                        print file "\t" text
                }
            }'
        done
}

# The lists of docs/when-it-goes-wrong.md: lines behind "- " and the first cells below "message".
# An entry with "..." stands for each message that has its parts in order; one without is an
# example, or a part.
entries() {
    awk -F ' *[|] *' '
        entry != "" && /^  [^ ]/ { entry = entry " " substr($0, 3); next }
        entry != "" { print entry; entry = "" }
        /^- / { entry = substr($0, 3) }
        /^[|]/ && $2 == "message" { listed = 1; next }
        /^[|]/ && $2 !~ /^-+$/ && listed { print $2 }
        !/^[|]/ { listed = 0 }
        END { if (entry != "") print entry }' docs/when-it-goes-wrong.md
}

# Messages that no entry tells, and entries of messages that are gone.
messages_untold() {
    entries >"$scratch/entries"
    messages | LC_ALL=C awk -F '\t' '
        function in_order(text, parts, n,    i, at) {
            for (i = 1; i <= n; i++) {
                gsub(/^ +| +$/, "", parts[i])
                if (!(at = index(text, parts[i])) && parts[i] != "")
                    return 0
                text = substr(text, at + length(parts[i]))
            }
            return 1
        }
        FNR == NR { entry[++count] = $0; next }
        {
            told = 0
            for (e = 1; e <= count; e++) {
                if (index(entry[e], "..."))
                    found = in_order($2, part, split(entry[e], part, /[.][.][.]/))
                else
                    found = index($2, entry[e]) || in_order(entry[e], part, split($2, part, "\001"))
                if (found)
                    told = used[e] = 1
            }
            if (!told) {
                gsub("\001", "...", $2)
                print "docs/when-it-goes-wrong.md lacks a message of " $1 ": " $2
            }
        }
        END {
            for (e = 1; e <= count; e++)
                if (!used[e])
                    print "no message is as docs/when-it-goes-wrong.md says: " entry[e]
        }' "$scratch/entries" -
}

# Numbers of faults in the names of tests, and features of the structures.
codes_unexplained() {
    {
        grep -rhoE '^TEST\([a-z0-9_]+, [A-Za-z0-9_]+' tests --include='*.c' | sed 's/.*, //' |
            tr _ '\n' | grep -xE '[TGDHC][0-9]+'
        awk -F ' *[|] *' '/^[|]/ { gsub(" ", "\n", $3); print $3 }' tests/structures/README.md |
            grep -xE '[A-Z]{2,}'
    } | sort -u | while IFS= read -r code; do
        grep -q "^| $code |" docs/testing.md || echo "docs/testing.md does not explain $code"
    done
}

# ---- Style. Other versions of clang-format lay out some lines in another way.

sources() {
    find src devices include tests tools examples fuzz -type f \
        \( -name '*.[ch]' -o -name '*.hpp' -o -name '*.cpp' -o -name '*.cu' \)
}

# Rows of tables in documents may be longer.
long_lines() {
    {
        sources
        find *.md CMakeLists.txt cmake docs tests tools examples fuzz -type f \
            \( -name '*.sh' -o -name '*.py' -o -name '*.md' -o -name '*.cmake' \
            -o -name CMakeLists.txt \)
    } | xargs awk 'length > 100 && !(FILENAME ~ /[.]md$/ && /^[|]/) {
        printf "%s:%d: %d columns\n", FILENAME, FNR, length }'
}

other_layout() {
    sources | xargs clang-format --dry-run -Werror 2>&1 | grep 'error:' | head -n 20
}

nothing "system calls and functions go through their doors" undefined_symbols
nothing "every global name begins with haul_" foreign_names
nothing "no state between calls" state
nothing "kernels need no C++ run-time library" cxx_in_kernels
nothing "no cycle among files" file_cycles
if [ "$what" = all ]; then
    nothing "rooms include only rooms below them" upward_includes
    nothing "no cycle among rooms" room_cycles
    nothing "no header declares functions of more than three files" hub_headers
    nothing "no type, constant, macro or function has two definitions" names_twice
    nothing "no two rooms have a file of one name" stems_twice
    nothing "devices include only public headers" device_includes
    nothing "src/ names no vendor" vendor_names
    nothing "no public struct has padding" padded_structs
    nothing "haul.h declares experimental parts only behind HAUL_EXPERIMENTAL" \
        experiments_without_asking
    call_graphs
    nothing "no function calls itself, directly or around a corner" recursion
    nothing "no chain of calls needs more than $stack_limit bytes of stack" deep_chains
    nothing "docs/when-it-goes-wrong.md tells every message, and no other" messages_untold
    nothing "docs/testing.md explains the codes of tests" codes_unexplained
    nothing "no line is longer than 100 columns, but rows of tables" long_lines
    if clang-format --version 2>/dev/null | grep -q 'version 14\.'; then
        nothing "clang-format 14 leaves every file as it is" other_layout
    else
        echo "SKIPPED clang-format 14 leaves every file as it is: it is not here"
    fi
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
