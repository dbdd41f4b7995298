# An emulator that does one thing wrong: `sh emulator.sh HOW SUITE`. It knows the right answers, which are in
# the lines of SUITE after a tab, and looks a question up by its id.
how=$1
answers=$2

while IFS= read -r question; do
    id=${question#*'"id":"'}
    id=${id%%'"'*}
    answer=$(sed -n "s/^$id	//p" "$answers")
    case "$how:$id" in
    # Every case that has a fault is answered wrongly.
    wrong:*-fault) echo '{"sectors":99,"lines":1,"ideal_sectors":1,"wavefronts":null}' ;;
    crash:*-fault) echo "assertion failed at $id" >&2; exit 3 ;;
    signal:*-fault) kill -SEGV $$ ;;
    hang:*-fault) sleep 600 ;;
    open:*-fault) printf '%s' "$answer"; sleep 600 ;;
    garbage:*-fault) echo 'Segmentation fault' ;;
    list:*-fault) echo '[1, 2]' ;;
    empty:*-fault) echo ;;
    missing:*-fault) echo '{"sectors":1}' ;;
    unknown:*-fault) echo '{"sectors":1,"lines":1,"ideal_sectors":1,"wavefronts":null,"banks":0}' ;;
    binary:*-fault) printf '{"\377":1}\n' ;;
    long:*-fault) head -c 2000000 /dev/zero | tr '\0' x; echo ;;
    endless:*-fault) while :; do echo 0123456789; done | tr -d '\n' ;;
    # In one write, and in two with some time between them.
    two:*-fault) printf '%s\n%s\n' "$answer" "$answer" ;;
    late:*-fault) echo "$answer"; sleep 0.01; echo '{"skip":"more"}' ;;
    # A process outside the group keeps the pipes open for longer than the timeout.
    daemon:*-fault) setsid sleep 120 & exit 0 ;;
    child:*-fault) sleep 600 & exit 4 ;;
    deaf:*-fault) exec <&-; sleep 600 ;;
    mute:*-fault) exec >&-; sleep 600 ;;
    error:*-fault) echo '{"error":"what is this?"}' ;;
    skip:*-fault) echo '{"skip":"not implemented"}' ;;
    oddskip:*-fault) echo '{"skip":5}' ;;
    half:*-fault) printf '{"sectors":'; exit 0 ;;
    noise:*) head -c 300000 /dev/zero | tr '\0' '\n' >&2; echo "$answer" ;;
    verbose:*) printf '{"text":"%s"}\n' "$(head -c 100000 /dev/zero | tr '\0' x)" ;;
    *) printf '%s\n' "$answer" ;;
    esac
done
