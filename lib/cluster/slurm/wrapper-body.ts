/**
 * The program of the batch wrapper, in POSIX sh (compute nodes have no Node): guard, claim, base, run, watch, result.
 *
 * Invariants guarded on the node (protocols §4.2, §6.3, §8.1): the program starts only under a release mark that names this very object,
 * and only once per run; a later mark, a later run's claim or `stop` ends it within a minute or so; each run writes its own exec folder
 * and its own result. Nothing here removes or rewrites what another run wrote.
 */
import { WRAPPER_GUARD } from './wrapper-guard.ts';
import { WRAPPER_POINT } from './wrapper-point.ts';

export const WRAPPER_BODY = String.raw`
set -u
umask 077
unset CDPATH ENV BASH_ENV
d_id=${'$'}{SLURM_JOB_ID:-}
d_run=${'$'}{SLURM_RESTART_COUNT:-0}
d_pid= d_watcher= d_nonce= d_told=no d_caught=no

${WRAPPER_GUARD}
${WRAPPER_POINT}
# Contract 4a. The names of dispatch are reserved, so the user's, which follow, cannot replace them; PATH is completed after those.
d_environment() {
  unset LC_ALL DISPATCH_RESUME_FROM DISPATCH_RESUME_STEP DISPATCH_COMPLETION_MARKER
  export DISPATCH_JOB="$d_job" DISPATCH_CLUSTER="$d_cluster" DISPATCH_ATTEMPT="$d_n-$d_run" DISPATCH_EPOCH="$d_epoch"
  export DISPATCH_CHECKPOINT_ROOT="$d_root" DISPATCH_EXEC_DIR="$d_exec"
  export DISPATCH_NODES="$d_nodes" DISPATCH_NODE_RANK=0 DISPATCH_TASKS_PER_NODE="$d_tasks"
  export DISPATCH_MASTER_ADDR="$d_master" DISPATCH_MASTER_PORT=$((10000 + (d_id * 7 + d_run) % 20000))
  export DISPATCH_API_URL="$d_api" DISPATCH_TOKEN_FILE="$d_control/token"
  [ -z "$d_completion" ] || export DISPATCH_COMPLETION_MARKER="$d_completion"
  [ -z "$d_resume_path" ] || export DISPATCH_RESUME_FROM="$d_root/$d_resume_path" DISPATCH_RESUME_STEP="$d_resume_step"
}

# The program has a session of its own, so that a signal reaches all of it.
d_send() {
  [ -n "$d_pid" ] || return 0
  if [ -n "$d_setsid" ]; then kill "-$1" "-$d_pid" 2> /dev/null || kill "-$1" "$d_pid" 2> /dev/null; else kill "-$1" "$d_pid" 2> /dev/null; fi
}

# Its time is over, unless somebody gave the object more than was asked for: then d_left is what Slurm still leaves it.
d_more_time() {
  # By KILL: the watch ignores TERM, and what it starts may do so, too.
  d_said=$(SLURM_TIME_FORMAT=%s timeout -s KILL 20 scontrol -o show job "$d_id" 2> /dev/null)
  d_left=$(printf '%s\n' "$d_said" | awk -v now="$(date +%s)" -v asked="$d_limit" -v run="$d_run" '
    {
      for (i = NF; i > 0; i--) {
        if ($i ~ /^Restarts=[0-9]+$/) of = substr($i, 10)
        if ($i ~ /^StartTime=[0-9]+$/) start = substr($i, 11)
        if ($i ~ /^EndTime=([0-9]+|Unknown)$/) end = substr($i, 9)
      }
    }
    END {
      if (start == "" || of == "" || of != run) print 0
      else if (end == "Unknown") print asked
      else print (end - start > int((asked + 59) / 60) * 60 ? end - now : 0)
    }')
  case $d_left in '' | *[!0-9]*) d_left=0 ;; esac
}

# Ends the program when its right to run is gone or its time is over. Time is counted in naps, so that a suspension does not
# use it up, as with Slurm's own clock.
d_watch() {
  # Whoever tells the whole job to end must not end the watch with it: the program may use its time of grace.
  trap '' TERM INT HUP
  d_left=$d_limit d_why=
  while [ -z "$d_why" ]; do
    d_nap=$d_every
    [ "$d_left" -ge "$d_nap" ] || d_nap=$d_left
    sleep "$d_nap"
    # Never a signal to a number that may be somebody else's by now.
    kill -0 "$d_pid" 2> /dev/null || exit 0
    d_left=$((d_left - d_nap))
    d_look
    [ -n "$d_no" ] || [ "$d_left" -gt 0 ] || d_more_time
    if [ -n "$d_no" ]; then d_why=fenced; elif [ "$d_left" -le 0 ]; then d_why=time_limit; fi
  done
  printf '%s\n' "$d_why" > "$d_stopped"
  d_send TERM
  sleep "$d_grace"
  d_send KILL
}

d_write_result() {
  d_signal= d_why=
  if [ "$d_code" -gt 128 ] && [ "$d_code" -le 192 ]; then d_signal=$((d_code - 128)); fi
  if [ -f "$d_stopped" ]; then read -r d_why < "$d_stopped"; fi
  mkdir -p "$d_control/results"
  {
    printf 'job=%s\nattempt=%s\nid=%s\nrun=%s\n' "$d_job" "$d_n" "$d_id" "$d_run"
    printf 'exit=%s\nsignal=%s\nstopped=%s\ntold=%s\n' "$d_code" "$d_signal" "$d_why" "$d_told"
    printf 'started=%s\nended=%s\nend\n' "$d_started" "$(date +%s)"
  } > "$d_control/results/.$d_n-$d_run" && mv -f "$d_control/results/.$d_n-$d_run" "$d_control/results/$d_n-$d_run"
}

case $d_id in '' | *[!0-9]*) d_id=none; d_refuse 'guard: no job id in the environment' ;; esac
case $d_run in '' | *[!0-9]*) d_refuse 'guard: the restart count is no number' ;; esac
d_epoch=$((d_n * 1000000 + d_run))
d_exec=$d_root/exec/$d_n-$d_run
d_stopped=$d_control/output/.stopped-$d_id-$d_run
d_rm=$(command -v rm) d_setsid=$(command -v setsid) || d_setsid=
trap d_end_early TERM INT HUP
# The batch step runs on the first node; its own name is one that the others can resolve.
d_master=$(uname -n)

d_wait_for_mark
d_claim_run
d_look
[ -z "$d_no" ] || d_refuse "$d_no"
[ -n "$d_holds" ] || d_refuse 'guard: the release mark is gone'
# Before the base: a later run lists a bucket with them, and by where it is.
[ -z "$d_secrets" ] || [ -r "$d_secrets" ] || d_refuse 'secrets: the file of secrets is gone'
[ -z "${'$'}{d_bucket:-}" ] || { printf '%s' "$d_bucket" > "$d_control/.bucket-$d_id-$d_run" && mv -f "$d_control/.bucket-$d_id-$d_run" "$d_control/bucket"; } ||
  d_refuse 'checkpoint: where the bucket is cannot be written'
d_write_base
d_resume_step=${'$'}{d_point#* } d_resume_path=${'$'}{d_point##* }
d_resume_step=${'$'}{d_resume_step%% *}
if [ "$d_resume_path" = - ]; then
  d_resume_path=
else
  d_resume_path=$(printf '%s\n' "$d_resume_path" | LC_ALL=C awk "$d_decode"' { printf "%s", decode($0) }')
  [ -n "$d_resume_path" ] || d_refuse 'checkpoint: the resume point cannot be read'
fi
# In a bucket the exec folder is the start of its keys; what is written aside stays with the control files.
case $d_root in s3://*) d_folder=$d_control/work/$d_n-$d_run ;; *) d_folder=$d_exec ;; esac
mkdir -p "$d_folder" || d_refuse 'checkpoint: the exec folder cannot be made'
mkdir -p "$d_control/output" || d_refuse 'output: the output folder cannot be made'
[ -n "$d_workdir" ] || d_workdir=$d_folder
[ -d "$d_workdir" ] || d_refuse "workdir: $d_workdir does not exist on this node"
d_found=$(command -v "$d_tool") || d_refuse "configuration: $d_tool, which runs the program, is not on this node"
d_tool=$d_found
[ -e "$d_control/token" ] || : > "$d_control/token"

d_started=$(date +%s)
trap 'd_told=yes d_caught=yes; d_send TERM' TERM INT HUP
d_program < /dev/null >> "$d_control/output/$d_n-$d_run.out" 2>> "$d_control/output/$d_n-$d_run.err" &
d_pid=$!
# Told in between: nobody was there yet to be told on.
[ "$d_told" = no ] || d_send TERM
d_watch < /dev/null > /dev/null 2>&1 &
d_watcher=$!

# A trapped signal ends a wait early: only a wait without one tells how the program ended.
d_code=
while :; do
  d_caught=no
  wait "$d_pid"
  d_now=$?
  if [ "$d_caught" = no ]; then
    if [ "$d_now" -ne 127 ] || [ -z "$d_code" ]; then d_code=$d_now; fi
    break
  fi
  d_code=$d_now
done
# KILL: a shell that was only just forked loses any other signal. Waited for, since some shells tell of a killed child in the job's log.
{ kill -KILL "$d_watcher"; wait "$d_watcher"; } 2> /dev/null
# What the program left behind must not outlive its result.
[ -z "$d_setsid" ] || kill -KILL "-$d_pid" 2> /dev/null
d_write_result
# Not earlier: until its program ended by itself the scheduler may not put the job back.
if [ "$d_allow_requeue" = yes ] && [ "$d_told" = no ]; then
  timeout 20 scontrol update JobId="$d_id" Requeue=1 2>&1
fi
d_exit "$d_code"
`;
