/**
 * The part of the batch wrapper that decides whether it may run: refuse, look at the marks and claims, wait for its mark, claim the run.
 *
 * Invariants guarded on the node (protocols §4.2, §6.3): a program starts only under a release mark that names this very object, and only
 * once per run; what overrules it is seen by every look, before the claim, after it, and while the program runs.
 */
export const WRAPPER_GUARD = String.raw`# The file is the proof, the code alone is not: a program may exit with 79 too.
d_refuse() {
  trap '' TERM INT HUP
  mkdir -p "$d_control/refused"
  printf '%s\n' "$1" > "$d_control/refused/.$d_id-$d_run" &&
    mv -f "$d_control/refused/.$d_id-$d_run" "$d_control/refused/$d_id-$d_run"
  printf 'dispatch: refused to run: %s\n' "$1" >&2
  d_exit 79
}
# Until the program begins: whoever cancels then need not wait for what may be left. Slurm may start a run twice: of the other
# start, which may have the claim, this one knows nothing.
d_end_early() {
  d_owner=$(readlink "$d_control/claims/$d_n-$d_run" 2> /dev/null)
  case $d_owner in
    '') d_refuse "told: to end before run $d_run was claimed" ;;
    "$d_id-$d_run-$d_nonce") d_refuse 'told: to end before its program began' ;;
    *) d_refuse "guard: run $d_run is claimed by $d_owner" ;;
  esac
}
# A code on which this cluster requeues by itself never reaches it; the files tell the real one.
d_exit() {
  case $d_bad_codes in *" $1 "*) exit "$d_other_code" ;; esac
  exit "$1"
}

# Sets d_no to why this run may not run, or d_holds to what the mark of this attempt holds (empty: no mark yet).
d_look() {
  d_no= d_holds=
  # Listing makes a shared file system ask its server again instead of answering from memory.
  ls "$d_control/release" "$d_control/claims" "$d_control" > /dev/null 2>&1
  if [ -e "$d_control/stop" ]; then d_no='guard: the job was stopped'; return 0; fi
  for d_mark in "$d_control/release/"*; do
    d_k=${'$'}{d_mark##*/}
    case $d_k in '' | *[!0-9]*) ;; *) [ "$d_k" -le "$d_n" ] || { d_no="guard: attempt $d_k has a release mark"; return 0; } ;; esac
  done
  # Put back in the queue while its node was out of sight: the run that followed is as good as a later mark.
  for d_mark in "$d_control/claims/$d_n-"*; do
    d_k=${'$'}{d_mark##*-}
    case $d_k in '' | *[!0-9]*) ;; *) [ "$d_k" -le "$d_run" ] || { d_no="guard: run $d_k of this attempt has begun"; return 0; } ;; esac
  done
  if [ -f "$d_control/release/$d_n" ]; then
    read -r d_holds d_rest 2> /dev/null < "$d_control/release/$d_n" || d_holds=
    if [ -n "$d_holds" ] && [ "$d_holds" != "$d_id" ]; then d_no="guard: the release mark names object $d_holds"; fi
  fi
}

d_wait_for_mark() {
  d_waited=0
  while :; do
    d_look
    [ -z "$d_no" ] || d_refuse "$d_no"
    [ -z "$d_holds" ] || return 0
    [ "$d_waited" -lt "$d_late" ] || d_refuse 'guard: this attempt was never released'
    sleep "$d_again"
    d_waited=$((d_waited + d_again))
  done
}

# The link is made once whoever asks; its text proves whose it is, also when the answer of ln was lost.
d_claim_run() {
  mkdir -p "$d_control/claims"
  d_nonce=$(od -An -N8 -tx1 /dev/urandom | tr -d ' \n')
  ln -s "$d_id-$d_run-$d_nonce" "$d_control/claims/$d_n-$d_run" 2> /dev/null
  d_owner=$(readlink "$d_control/claims/$d_n-$d_run")
  [ "$d_owner" = "$d_id-$d_run-$d_nonce" ] || d_refuse "guard: run $d_run is claimed by ${'$'}{d_owner:-nobody that can be read}"
}
`;
