# For scripts that check: sets `passed` and `failed`, and needs a folder in `scratch`.
# shellcheck shell=bash disable=SC2154
passed=0 failed=0

# try NAME COMMAND...: one check; its output is shown when it fails.
try() {
    local name=$1
    shift
    if "$@" >"$scratch/log" 2>&1; then
        passed=$((passed + 1))
        echo "ok      $name"
    else
        failed=$((failed + 1))
        echo "FAILED  $name"
        sed 's/^/    /' "$scratch/log"
    fi
}
