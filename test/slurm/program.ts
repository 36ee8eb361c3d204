/**
 * Programs that these tests run: the same few words of bash in each, and what they leave for the test to read. A start is a line that
 * the program itself appends, so runs are counted by nobody's word but the program's.
 */
import { existsSync, readFileSync } from 'node:fs';

/**
 * | word | does |
 * | --- | --- |
 * | marker STEP | saves, and announces by the marker alone, made by hand |
 * | both STEP | saves, and announces by dispatch-publish: the marker, then the API |
 * | post LABEL TOKEN JOB EPOCH STEP [PATH] | reports over the API alone, with the token in that file; adds `LABEL <status> <code>` to `said` |
 * | await NAME | waits until the test makes that file in the job's checkpoint root |
 *
 * With a root in a bucket `save` stores by S3_URL and the environment's own keys, and what the test reads is in NOTES/<job>.
 */
export const WORDS = `#!/bin/bash
set -eu
case $DISPATCH_CHECKPOINT_ROOT in s3://*) root=$NOTES/$DISPATCH_JOB; mkdir -p "$root" ;; *) root=$DISPATCH_CHECKPOINT_ROOT ;; esac
printf '%s %s %s\\n' "$DISPATCH_ATTEMPT" "$SLURM_JOB_ID" "\${DISPATCH_RESUME_STEP:--}" >> "$root/starts"
s3() {
  printf 'user = "%s:%s"\\n' "$AWS_ACCESS_KEY_ID" "$AWS_SECRET_ACCESS_KEY" |
    curl -q -sSf --config - --aws-sigv4 aws:amz:us-east-1:s3 --max-time 30 -H "x-amz-content-sha256: $(sha256sum < "$1" | cut -c 1-64)" "\${@:2}"
}
weights() { case $1 in s3://*) s3 /dev/null "$S3_URL/\${1#s3://}/weights" ;; *) cat "$1/weights" ;; esac; }
if [ -n "\${DISPATCH_RESUME_FROM:-}" ]; then [ "$(weights "$DISPATCH_RESUME_FROM")" = "$DISPATCH_RESUME_STEP" ]; fi
store() {
  printf '%s\\n' "$1" > "$root/weights"
  s3 "$root/weights" -X PUT -H 'content-type: application/octet-stream' --data-binary "@$root/weights" "$S3_URL/\${DISPATCH_EXEC_DIR#s3://}/step-$1/weights"
  printf '%s  weights\\n' "$(wc -c < "$root/weights")" > "$root/MANIFEST"
}
manifest() { case $DISPATCH_EXEC_DIR in s3://*) printf %s "$root/MANIFEST" ;; *) printf %s "$DISPATCH_EXEC_DIR/step-$1/MANIFEST" ;; esac; }
save() {
  case $DISPATCH_EXEC_DIR in s3://*) store "$1"; return 0 ;; esac
  mkdir "$DISPATCH_EXEC_DIR/step-$1"
  printf '%s\\n' "$1" > "$DISPATCH_EXEC_DIR/step-$1/weights"
  ( cd "$DISPATCH_EXEC_DIR/step-$1" && sha256sum weights > MANIFEST && sync weights MANIFEST )
}
marker() {
  save "$1"
  local path=exec/$DISPATCH_ATTEMPT/step-$1 name
  name=$(printf '%020d-%020d-%s' "$DISPATCH_EPOCH" "$1" "$(printf %s "$path" | base32 -w0 | tr -d = | tr A-Z a-z)")
  ( set -C; : > "$root/pub/$name" )
}
announce() {
  local code=0
  dispatch-publish --manifest "$(manifest "$1")" "$1" "$DISPATCH_EXEC_DIR/step-$1" 2>> "$root/publisher" || code=$?
  printf 'announce-%s %s\\n' "$1" "$code" >> "$root/said"
}
both() { save "$1"; announce "$1"; }
post() {
  local answer status
  answer=$(printf 'header = "Authorization: Bearer %s"\\n' "$(cat "$2")" | curl -q -sS --config - --max-time 10 -w '\\n%{http_code}' \\
    -H 'content-type: application/json' --data "{\\"epoch\\":$4,\\"step\\":$5,\\"path\\":\\"\${6:-exec/$DISPATCH_ATTEMPT/step-$5}\\"}" \\
    "$DISPATCH_API_URL/jobs/$3/checkpoints" 2>&1) || true
  status=\${answer##*$'\\n'}
  printf '%s %s %s\\n' "$1" "$status" "$(printf %s "$answer" | sed -n 's,.*"type":"/problems/\\([a-z_/]*\\)".*,\\1,p')" >> "$root/said"
  posted=$status
}
await() { for _ in $(seq 4000); do [ ! -e "$root/$1" ] || return 0; sleep 0.2; done; exit 9; }
`;

const linesOf = (path: string): string[][] =>
  existsSync(path)
    ? readFileSync(path, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => line.split(' '))
    : [];

export interface Start {
  /** `<n>-<run>`. */
  readonly attempt: string;
  readonly epoch: number;
  readonly schedulerId: string;
  /** The training step that it was told to resume from. */
  readonly resumed?: number;
}

const checkpointsOf = (root: string, job: string): string => `${root}/checkpoints/${job}`;

/** Every start of a job's program, in the order in which they happened. */
export const startsOf = (root: string, job: string): Start[] =>
  linesOf(`${checkpointsOf(root, job)}/starts`).map(([attempt = '', schedulerId = '', step = '-']) => {
    const [n, run] = attempt.split('-').map(Number);
    return { attempt, epoch: n! * 1_000_000 + run!, schedulerId, ...(step === '-' ? {} : { resumed: Number(step) }) };
  });

/** What its announcements and posts were answered with: `<label> <exit code or status> [<code>]`. */
export const saidOf = (root: string, job: string): string[] =>
  linesOf(`${checkpointsOf(root, job)}/said`).map((words) => words.filter(Boolean).join(' '));
