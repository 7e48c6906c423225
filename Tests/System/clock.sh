# shellcheck shell=bash
# Clocks of servers and databases that a test can set. Sourced after lib.sh.

# fake_clock FILE: the clock of programs started from now on is off by what the file says, which they read whenever they ask for the
# time: each session of PostgreSQL is a process, and with a cache they would disagree for up to two seconds.
fake_clock() {
    LD_PRELOAD=$(dpkg -L libfaketime | grep 'libfaketimeMT\.so')
    export LD_PRELOAD FAKETIME_TIMESTAMP_FILE=$1 FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1
}

true_clock() { unset LD_PRELOAD FAKETIME_TIMESTAMP_FILE FAKETIME_NO_CACHE FAKETIME_DONT_FAKE_MONOTONIC; }

# set_clock FILE OFFSET: in seconds; nobody reads half a file.
set_clock() {
    echo "$2" >"$1.new"
    mv "$1.new" "$1"
}
