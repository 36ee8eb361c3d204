#!/bin/sh
{
# dispatch-publish: announces one complete save of a training program, so that a later run may resume from it.
#
# Runs on compute nodes under any POSIX sh, without Node (protocols §8.3). The order is what keeps a resume safe: look whether
# this run may still speak, prove the save complete, make it durable, look again, and only then create the one empty file by which
# it counts. A half-made save is never announced; an announced one is never touched again. The braces around everything make a
# copy that was cut anywhere a syntax error.
set -u
LC_ALL=C
export LC_ALL
unset CDPATH

usage='usage: dispatch-publish [--framework NAME | --manifest FILE] STEP PATH
  STEP  the training step of the save: a whole number
  PATH  the save: a file or folder of its own inside $DISPATCH_EXEC_DIR; in a bucket its key or the start of its keys
  NAME  torch-dcp, deepspeed, megatron, huggingface or orbax; found out by the files where it is not named
  FILE  lines of "<sha256 or bytes>  <path relative to the save>"
exit codes: 0 published, 1 already there, 2 invalid argument, 3 incomplete, malformed or not to be written, 4 late'

say() { printf 'dispatch-publish: %s\n' "$1" >&2; }
invalid() { say "$1"; exit 2; }
incomplete() { say "not published: $1"; exit 3; }

# Arguments -----------------------------------------------------------------------------------------------------------------------

framework= manifest= listing=
while [ "$#" -gt 0 ]; do
  case $1 in
    --framework | --manifest)
      [ "$#" -ge 2 ] || invalid "$1 needs a value"
      if [ "$1" = --framework ]; then framework=$2; else manifest=$2; fi
      shift 2 ;;
    --framework=*) framework=${1#*=}; shift ;;
    --manifest=*) manifest=${1#*=}; shift ;;
    # For the wrapper: the names of all markers, by this program's own way to the bucket.
    --list) listing=yes; shift; break ;;
    -h | --help) printf '%s\n' "$usage"; exit 0 ;;
    --) shift; break ;;
    -*) say "unknown option $1"; printf '%s\n' "$usage" >&2; exit 2 ;;
    *) break ;;
  esac
done
[ -z "$listing" ] || set -- 0 -
[ "$#" -eq 2 ] || { say "needs STEP and PATH, got $# words"; printf '%s\n' "$usage" >&2; exit 2; }
[ -z "$framework" ] || [ -z "$manifest" ] || invalid '--framework and --manifest exclude each other'
# What the job itself says of its saves, unless this call says otherwise.
if [ -z "$framework$manifest$listing" ]; then
  framework=${DISPATCH_COMPLETION_MARKER:-}
  [ "$framework" != manifest ] || invalid 'saves of this job are proved by a manifest (checkpoint.completionMarker): --manifest FILE is missing'
fi
case $framework in
  '' | torch-dcp | deepspeed | megatron | huggingface | orbax) ;;
  *) invalid "$framework is none of torch-dcp, deepspeed, megatron, huggingface, orbax" ;;
esac

step=$1 path=$2
case $step in '' | *[!0-9]*) invalid "STEP must be a whole number, not '$step'" ;; esac
while :; do case $step in 0?*) step=${step#0} ;; *) break ;; esac; done
[ "${#step}" -le 15 ] || invalid 'STEP has more than 15 digits'

# The run -------------------------------------------------------------------------------------------------------------------------

attempt=${DISPATCH_ATTEMPT:-} epoch=${DISPATCH_EPOCH:-}
n=${attempt%-*} run=${attempt##*-}
for number in "$n" "$run" "$epoch"; do
  case $number in '' | 0?* | *[!0-9]* | ????????????*) invalid 'DISPATCH_ATTEMPT and DISPATCH_EPOCH are not those of a run of dispatch' ;; esac
done
[ "$attempt" = "$n-$run" ] && [ "$epoch" -eq $((n * 1000000 + run)) ] || invalid 'DISPATCH_ATTEMPT and DISPATCH_EPOCH disagree'
case ${DISPATCH_CHECKPOINT_ROOT:-} in
  '') invalid 'DISPATCH_CHECKPOINT_ROOT is not set' ;;
esac
control=${DISPATCH_TOKEN_FILE:-}
control=${control%/*}
newline='
'

# In a folder of our own: a name that another user can guess in a folder of everybody's may be a link of theirs by the time it is written.
make_scratch() {
  scratch_folder=$(mktemp -d "${TMPDIR:-/tmp}/dispatch-publish.XXXXXX") || incomplete 'no temporary folder can be made'
  trap 'rm -rf "$scratch_folder"' EXIT
  trap 'exit 3' HUP INT TERM
  scratch=$scratch_folder/list
  : > "$scratch"
}

# Bucket --------------------------------------------------------------------------------------------------------------------------

# Where the root is s3://bucket/prefix the job's own credentials announce, by curl where they are in the environment and curl can sign,
# else by aws, which finds them anywhere. Where the bucket is comes from beside the token, unless the environment names an endpoint.
bucket= key= tool=
open_bucket() {
  bucket=${1#s3://} key=
  case $bucket in */?*) key=${bucket#*/} bucket=${bucket%%/*} ;; esac
  case $bucket in '' | *[!a-z0-9.-]*) invalid "$1 names no bucket" ;; esac
  [ -n "$key" ] || invalid "$1 has no prefix"
  region= endpoint=
  if [ -n "$control" ] && [ -f "$control/bucket" ]; then
    { read -r region; read -r endpoint; } < "$control/bucket" || [ -n "$region" ]
  fi
  region=${region:-${AWS_REGION:-${AWS_DEFAULT_REGION:-us-east-1}}}
  endpoint=${AWS_ENDPOINT_URL_S3:-${AWS_ENDPOINT_URL:-$endpoint}}
  case $region in *[!a-z0-9-]*) invalid 'the region is no name' ;; esac
  case $region in cn-*) host=s3.$region.amazonaws.com.cn ;; *) host=s3.$region.amazonaws.com ;; esac
  address=${endpoint:-https://$host}
  address=${address%/}
  why='this node has neither aws nor curl'
  if command -v curl > /dev/null; then
    version=$(curl --version 2> /dev/null | awk 'NR == 1 { split($2, v, "."); print v[1] * 1000 + v[2] }')
    case $version in '' | *[!0-9]*) version=0 ;; esac
    # Before 7.87 curl signs neither a session's token nor a port.
    least=7075
    case ${AWS_SESSION_TOKEN:+token}${address#http*://} in token* | *:[0-9]*) least=7087 ;; esac
    if [ "$version" -lt "$least" ]; then why="curl is too old here (needs 7.$((least - 7000)))"
    elif [ -z "${AWS_ACCESS_KEY_ID:-}" ] || [ -z "${AWS_SECRET_ACCESS_KEY:-}" ]; then
      why='AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set, and there is no aws to find credentials'
    else tool=curl; fi
  fi
  [ -n "$tool" ] || ! command -v aws > /dev/null || tool=aws
}

# Percent-encoded, but for what a path or a query may hold as it is.
escape() {
  printf '%s' "$1" | od -An -v -tu1 | awk -v also="$2" '
    BEGIN { for (i = 1; i < 256; i++) chr[i] = sprintf("%c", i) }
    { for (i = 1; i <= NF; i++) { c = chr[$i + 0]; out = out (c ~ /[A-Za-z0-9._~-]/ || index(also, c) ? c : sprintf("%%%02X", $i)) } }
    END { printf "%s", out }'
}

# curl METHOD ADDRESS [HEADER]: what was answered, and its status as the last line. Nothing secret is on a command line.
signed() {
  quoted() { printf '%s' "$1" | sed 's/[\\"]/\\&/g'; }
  {
    printf 'user = "%s:%s"\n' "$(quoted "$AWS_ACCESS_KEY_ID")" "$(quoted "$AWS_SECRET_ACCESS_KEY")"
    [ -z "${AWS_SESSION_TOKEN:-}" ] || printf 'header = "x-amz-security-token: %s"\n' "$(quoted "$AWS_SESSION_TOKEN")"
    # Of nothing: every body here is empty.
    printf 'header = "x-amz-content-sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"\n'
    [ "$1" = GET ] || printf 'data-binary = ""\nheader = "content-type: application/octet-stream"\n'
    [ -z "${3:-}" ] || printf 'header = "%s"\n' "$3"
  } | curl -q -sS --config - --aws-sigv4 "aws:amz:$region:s3" --connect-timeout 5 --max-time 20 --max-filesize 4194304 \
    -w '\n%{http_code}' -X "$1" "$2" 2>&1
}
# As signed, into $answer and $status; three times while a repeat may be answered otherwise. 409: another one was writing the key at that very
# moment, and may yet fail.
asked() {
  tries=0
  while :; do
    answer=$(signed "$@")
    status=${answer##*"$newline"} tries=$((tries + 1))
    case $status in 409 | 429 | 5?? | 000) ;; *) return 0 ;; esac
    [ "$tries" -lt 3 ] || return 0
    sleep "$tries"
  done
}
by_aws() {
  verb=$1
  shift
  timeout -s KILL 120 env AWS_PAGER= aws s3api "$verb" --bucket "$bucket" --region "$region" ${endpoint:+"--endpoint-url=$endpoint"} \
    --cli-connect-timeout 5 --cli-read-timeout 15 --output text "$@"
}

# The listing's answer as lines of "<bytes> <key after the prefix>"; a last line "more <token>" where it goes on.
read_page() {
  prefix=$1 awk '
    function bytes(c) {
      if (c < 128) return sprintf("%c", c)
      if (c < 2048) return sprintf("%c%c", 192 + int(c / 64), 128 + c % 64)
      if (c < 65536) return sprintf("%c%c%c", 224 + int(c / 4096), 128 + int(c / 64) % 64, 128 + c % 64)
      return sprintf("%c%c%c%c", 240 + int(c / 262144), 128 + int(c / 4096) % 64, 128 + int(c / 64) % 64, 128 + c % 64)
    }
    function plain(t,  out, word, c, i, base) {
      gsub(/&lt;/, "<", t); gsub(/&gt;/, ">", t); gsub(/&quot;/, "\"", t); gsub(/&apos;/, "\047", t)
      out = ""
      while (match(t, /&#[0-9A-Fa-fXx]+;/)) {
        word = tolower(substr(t, RSTART + 2, RLENGTH - 3)); base = 10; c = 0
        if (substr(word, 1, 1) == "x") { base = 16; word = substr(word, 2) }
        for (i = 1; i <= length(word); i++) c = c * base + index("0123456789abcdef", substr(word, i, 1)) - 1
        out = out substr(t, 1, RSTART - 1) bytes(c); t = substr(t, RSTART + RLENGTH)
      }
      t = out t
      gsub(/&amp;/, "\\&", t)
      return t
    }
    function inside(t, name,  a, b) {
      a = index(t, "<" name ">"); b = index(t, "</" name ">")
      return a && b > a ? plain(substr(t, a + length(name) + 2, b - a - length(name) - 2)) : ""
    }
    { text = text $0 }
    END {
      prefix = ENVIRON["prefix"]
      if (!index(text, "</ListBucketResult>")) exit 1
      count = split(text, part, /<Contents>/)
      for (i = 2; i <= count; i++) {
        found = inside(part[i], "Key")
        # Asked for this prefix alone: one that reads otherwise was not understood, and must not be left out in silence.
        if (substr(found, 1, length(prefix)) != prefix) exit 1
        # As it stands: some awks print a large number as a power of ten.
        size = inside(part[i], "Size")
        if (size !~ /^[0-9]+$/) exit 1
        print size, substr(found, length(prefix) + 1)
      }
      if (inside(text, "IsTruncated") == "true") {
        next_token = inside(text, "NextContinuationToken")
        if (next_token == "") exit 1
        print "more", next_token
      }
    }'
}

# A store's answer as one line: of an error its status, code and words alone, since S3 goes on with all that was signed.
brief() {
  printf '%s' "${1:-no answer}" | tr '\n' ' ' |
    sed -e 's,^.*<Code>\([^<]*\)</Code> *\(<Message>\([^<]*\)</Message>\)\{0\,1\}.* \([0-9]*\)$,\4 \1 \3,' -e 's,^ *,,' -e 's, *$,,' | cut -c 1-300
}

# All keys below a prefix, whole or not at all; then $why says why not.
list_bucket() {
  case $tool in
    aws)
      answer=$(by_aws list-objects-v2 --prefix "$1" --query 'Contents[].[Size,Key]' 2>&1 > "$scratch.page") || { why=$(brief "$answer"); return 1; }
      prefix=$1 awk -F '\t' 'NF > 1 { print $1, substr($2, length(ENVIRON["prefix"]) + 1) }' "$scratch.page"
      return 0 ;;
    '') return 1 ;;
  esac
  from= pages=0
  while [ "$pages" -lt 200 ]; do
    pages=$((pages + 1)) query="list-type=2&max-keys=1000&prefix=$(escape "$1" '')"
    [ -z "$from" ] || query="continuation-token=$(escape "$from" '')&$query"
    asked GET "$address/$bucket?$query"
    [ "$status" = 200 ] || { why=$(brief "$answer"); return 1; }
    printf '%s\n' "${answer%"$newline"*}" | read_page "$1" > "$scratch.page" || { why='its answer cannot be read'; return 1; }
    grep -v '^more ' "$scratch.page"
    from=$(sed -n 's/^more //p' "$scratch.page")
    [ -n "$from" ] || return 0
  done
  why='it has more than 200 pages'
  return 1
}

# The empty object of this key, on the condition that there is none. 0 made, 1 there before, 3 neither, and says why.
put_once() {
  tries=0
  case $tool in
    curl)
      asked PUT "$address/$bucket/$(escape "$1" /)" 'If-None-Match: *'
      case $status in 2??) return 0 ;; 412) return 1 ;; esac ;;
    aws)
      while [ "$tries" -lt 3 ]; do
        [ "$tries" -eq 0 ] || sleep "$tries"
        tries=$((tries + 1))
        if answer=$(by_aws put-object --key "$1" --if-none-match '*' 2>&1); then return 0; fi
        case $answer in
          *PreconditionFailed* | *'(412)'*) return 1 ;;
          *nknown\ options*) answer='this aws cannot write on a condition; it needs a newer one, or curl'; break ;;
          *AccessDenied* | *'(403)'* | *NoSuchBucket* | *redentials*) break ;;
        esac
      done ;;
    *) answer=$why ;;
  esac
  why=$(brief "$answer")
  return 3
}

case $DISPATCH_CHECKPOINT_ROOT in s3://*) open_bucket "$DISPATCH_CHECKPOINT_ROOT" ;; esac
if [ -n "$listing" ]; then
  [ -n "$bucket" ] || invalid '--list is for a root in a bucket'
  make_scratch
  list_bucket "$key/pub/" > "$scratch" || { say "the bucket could not be listed${tool:+ by $tool}: $why"; exit 3; }
  sed 's/^[0-9]* //' "$scratch"
  exit 0
fi

# The save ------------------------------------------------------------------------------------------------------------------------

# Physical paths: a link that leads out of the run's own folder must not lend another run's files to this one.
real() {
  real=$(cd -P -- "$1" 2> /dev/null && pwd -P && printf x) || return 1
  real=${real%x}
  real=${real%"$newline"}
}
find_in_bucket() {
  root=$DISPATCH_CHECKPOINT_ROOT
  [ "${DISPATCH_EXEC_DIR:-}" = "$root/exec/$attempt" ] || invalid "DISPATCH_EXEC_DIR is not the prefix of run $attempt"
  while :; do case $path in ?*/) path=${path%/} ;; *) break ;; esac; done
  case $path in s3://*) save=$path ;; /*) invalid "$path is no place in the bucket" ;; *) save=$root/exec/$attempt/$path ;; esac
  case $save in
    "$root/exec/$attempt/"?*) relative=${save#"$root/"} ;;
    *) invalid "$save does not begin with the prefix of this run, $root/exec/$attempt/" ;;
  esac
  case /$relative/ in *//* | */./* | */../*) invalid 'PATH has an empty part, or one that is . or ..' ;; esac
}
find_in_folder() {
  real "$DISPATCH_CHECKPOINT_ROOT" || invalid "the checkpoint root $DISPATCH_CHECKPOINT_ROOT cannot be entered"
  root=$real
  real "${DISPATCH_EXEC_DIR:-}/." || invalid "the folder of this run, '${DISPATCH_EXEC_DIR:-}', cannot be entered"
  [ "$real" = "$root/exec/$attempt" ] || invalid "DISPATCH_EXEC_DIR is not the folder of run $attempt"

  while :; do case $path in ?*/) path=${path%/} ;; *) break ;; esac; done
  case $path in /*) ;; *) path=./$path ;; esac
  if [ -d "$path" ]; then
    real "$path" || invalid "$path cannot be entered"
    save=$real folder=$real
  elif [ -h "$path" ]; then
    invalid "$path is a link to something that is no folder"
  elif [ -f "$path" ]; then
    real "${path%/*}/" || invalid "$path cannot be entered"
    save=$real/${path##*/} folder=$real
  else
    invalid "$path does not exist"
  fi
  case $save in
    "$root/exec/$attempt/"?*) relative=${save#"$root/"} ;;
    *) invalid "$save is not inside the folder of this run, $root/exec/$attempt" ;;
  esac
}
if [ -n "$bucket" ]; then find_in_bucket; else find_in_folder; fi
case $relative in *[[:cntrl:]]*) invalid 'PATH holds a control character' ;; esac

# The marker's name: RFC 4648 base32 of the path, lower case, no padding. od and awk, because not every node has base32. Bytes that
# are no UTF-8 are refused: such a name would be read by nobody, and the save would be lost in silence.
encoded=$(printf '%s' "$relative" | od -An -v -tu1 | awk '
  BEGIN {
    letters = "abcdefghijklmnopqrstuvwxyz234567"; more = 0; value = 0; bits = 0; text = ""
    # Powers by hand: an awk may come without them.
    two[0] = 1; for (i = 1; i <= 12; i++) two[i] = 2 * two[i - 1]
  }
  {
    for (i = 1; i <= NF; i++) {
      b = $i + 0; bytes++
      if (more > 0) { if (b < least || b > most) bad = 1; more--; least = 128; most = 191 }
      else if (b >= 128) {
        least = 128; most = 191
        if (b >= 194 && b <= 223) more = 1
        else if (b >= 224 && b <= 239) { more = 2; if (b == 224) least = 160; if (b == 237) most = 159 }
        else if (b >= 240 && b <= 244) { more = 3; if (b == 240) least = 144; if (b == 244) most = 143 }
        else bad = 1
      }
      value = value * 256 + b; bits += 8
      while (bits >= 5) { bits -= 5; d = int(value / two[bits]); value -= d * two[bits]; text = text substr(letters, d + 1, 1) }
    }
  }
  END {
    if (bad || more > 0) { print "utf8"; exit }
    if (bytes > 130) { print bytes; exit }
    if (bits > 0) text = text substr(letters, value * two[5 - bits] + 1, 1)
    print "=" text
  }')
case $encoded in
  =?*) encoded=${encoded#=} ;;
  utf8) invalid 'PATH is no UTF-8' ;;
  *) invalid "PATH has ${encoded:-unknown} bytes below the checkpoint root; 130 are the most" ;;
esac
name=$(printf '%020d-%020d' "$epoch" "$step")-$encoded
marker=$root/pub/$name

# Late ----------------------------------------------------------------------------------------------------------------------------

# The token lies in the job's control folder, beside the marks by which a run loses its right to speak. Where there are none
# (a scheduler without a wrapper) nothing is late by them, and whoever resolves judges by the points.
late() { say "late: $1; nothing that this run saves will be resumed from"; exit 4; }
refuse_late() {
  [ -n "$control" ] || return 0
  # Listing makes a shared file system ask its server again instead of answering from memory.
  ls "$control" > /dev/null 2>&1 || return 0
  if [ -e "$control/stop" ]; then late 'the job was stopped'; fi
  for later in $(ls "$control/release" 2> /dev/null); do
    case $later in *[!0-9]* | ??????*) continue ;; esac
    if [ "$later" -gt "$n" ]; then late "attempt $later has a release mark"; fi
  done
  for later in $(ls "$control/claims" 2> /dev/null); do
    case $later in "$n"-*) later=${later#*-} ;; *) continue ;; esac
    case $later in '' | *[!0-9]* | ???????*) continue ;; esac
    if [ "$later" -gt "$run" ]; then late "run $later of this attempt has begun"; fi
  done
}
refuse_late

# An announcement is made once: what a marker names was checked when it was made.
if [ -z "$bucket" ] && [ -e "$marker" ]; then say 'already there'; exit 1; fi

# Complete ------------------------------------------------------------------------------------------------------------------------

filled() { [ -f "$1" ] && [ -s "$1" ]; }
need() { filled "$1" || incomplete "$1 is missing or empty${2:+ ($2)}"; }
first() { [ "$#" -gt 0 ] && [ -f "$1" ]; }

# PyTorch distributed checkpoint (torch/distributed/checkpoint/filesystem.py): every rank writes __<rank>_<i>.distcp; when all have,
# the coordinator writes .metadata.tmp and renames it to .metadata. The metadata names the files that hold the tensors.
check_torch_dcp() {
  need "$1.metadata" 'the coordinator writes it when every rank has written'
  first "$1"*.distcp || incomplete "no .distcp file in ${1:-the save}"
  tr -c '_.0-9a-z' '\n' < "$1.metadata" | sed -n 's/.*\(__[0-9][0-9]*_[0-9][0-9]*\.distcp\).*/\1/p' | sort -u > "$scratch"
  while read -r shard; do [ -f "$1$shard" ] || incomplete "$1$shard is missing, and .metadata names it"; done < "$scratch"
}

# DeepSpeed (runtime/engine.py, save_checkpoint): <folder>/<tag>/ holds *mp_rank_*_model_states.pt and *_optim_states.pt; `latest`
# in <folder> names the tag and is written last. PATH may be either of the two folders.
check_deepspeed() {
  if [ -f "$1latest" ]; then
    need "$1latest"
    tag=$(head -n 1 "$1latest")
    case $tag in '' | . | .. | */*) incomplete "$1latest names no folder" ;; esac
    at=$1$tag/
  else
    tag=$(head -n 1 ../latest 2> /dev/null)
    [ -n "$tag" ] && [ "$tag" = "${folder##*/}" ] || incomplete 'no file `latest` names this save: it is written last'
    at=$1
  fi
  first "$at"*mp_rank_*_model_states.pt || first "$at"layer_*model_states.pt || incomplete "no model states in $at"
  for part in "$at"*_states.pt; do need "$part"; done
  # The optimizer's parts are numbered without a gap from 0.
  for part in "$at"*zero_pp_rank_*_mp_rank_*_optim_states.pt; do
    [ -f "$part" ] || continue
    rank=${part##*zero_pp_rank_}; after=${rank#*_}; rank=${rank%%_*}; before=${part%"${rank}_$after"}
    case $rank in '' | *[!0-9]* | 0?*) continue ;; esac
    [ "$rank" -eq 0 ] || need "$before$((rank - 1))_$after" "the part of rank $rank is there"
  done
}

# Megatron-LM (megatron/training/checkpointing.py, core/dist_checkpointing): <folder>/iter_<7 digits>/ and, written after everybody's
# barrier, latest_checkpointed_iteration.txt in <folder>. The distributed format ends with metadata.json beside common.pt (and is a
# PyTorch distributed checkpoint where that says torch_dist); the older one has mp_rank_*/model_optim_rng.pt. PATH may be either folder.
check_megatron() {
  tracker=latest_checkpointed_iteration.txt
  if [ -f "$tracker" ]; then at=; else tracker=../$tracker; at=here; fi
  iteration=$(head -n 1 "$tracker" 2> /dev/null)
  case $iteration in
    release) name=release ;;
    '' | *[!0-9]* | ????????????????*) incomplete 'no latest_checkpointed_iteration.txt names an iteration: it is written last' ;;
    *) name=iter_$(printf '%07d' "$(printf '%s\n' "$iteration" | sed 's/^0*\(.\)/\1/')") ;;
  esac
  if [ -n "$at" ]; then
    [ "$name" = "${folder##*/}" ] || incomplete "latest_checkpointed_iteration.txt names $name, not this save"
    at=
  else
    at=$name/
    [ -d "$at" ] || incomplete "latest_checkpointed_iteration.txt names $name, which is not there"
  fi
  if [ -f "${at}metadata.json" ] || [ -f "${at}common.pt" ]; then
    need "${at}metadata.json" 'it is written last'
    need "${at}common.pt"
    if grep -q torch_dist "${at}metadata.json"; then check_torch_dcp "$at"; fi
  else
    first "$at"mp_rank_*/model_optim_rng.pt || incomplete "neither metadata.json nor mp_rank_*/model_optim_rng.pt in ${at:-the save}"
    for part in "$at"mp_rank_*/; do need "${part}model_optim_rng.pt"; done
  fi
}

# transformers.Trainer (trainer.py, _save_checkpoint): trainer_state.json is written after model and optimizer. A model in several
# files comes with <weights>.index.json, whose weight_map names each of them. Under DeepSpeed or FSDP the weights may be theirs.
check_huggingface() {
  need trainer_state.json 'the trainer writes it after the weights'
  [ "$(tr -d ' \n\r\t' < trainer_state.json | tail -c 1)" = '}' ] || incomplete 'trainer_state.json is cut short'
  found=
  for index in *.safetensors.index.json *.bin.index.json; do
    [ -f "$index" ] || continue
    [ "$(tr -d ' \n\r\t' < "$index" | tail -c 1)" = '}' ] || incomplete "$index is cut short"
    tr ',{}' '\n\n\n' < "$index" | sed -n \
      -e 's/.*"[[:space:]]*:[[:space:]]*"\([^"]*\.safetensors\)".*/\1/p' \
      -e 's/.*"[[:space:]]*:[[:space:]]*"\([^"]*\.bin\)".*/\1/p' | sort -u > "$scratch"
    [ -s "$scratch" ] || incomplete "$index names no weights"
    while read -r shard; do need "$shard" "$index names it"; done < "$scratch"
    found=yes
  done
  for weights in model.safetensors pytorch_model.bin adapter_model.safetensors adapter_model.bin; do
    if [ -f "$weights" ]; then need "$weights"; found=yes; fi
  done
  if [ -f latest ]; then check_deepspeed ''; found=yes; fi
  for part in pytorch_model_fsdp_*/ optimizer_*/; do
    if first "$part"*.distcp || [ -f "$part.metadata" ]; then check_torch_dcp "$part"; found=yes; fi
  done
  [ -n "$found" ] || incomplete 'no weights of a model are there'
}

# Orbax (checkpoint/path/atomicity): a save is made in <name>.orbax-checkpoint-tmp-<time> and renamed when it is whole, or, where
# renaming is not atomic, gets commit_success.txt last. _CHECKPOINT_METADATA (or orbax.checkpoint, since its version 1) marks its top.
check_orbax() {
  case $relative in *.orbax-checkpoint-tmp*) incomplete 'this is the temporary folder of a save that goes on' ;; esac
  [ -f _CHECKPOINT_METADATA ] || [ -f orbax.checkpoint ] || [ -f commit_success.txt ] ||
    incomplete 'none of _CHECKPOINT_METADATA, orbax.checkpoint, commit_success.txt is there'
  for part in *.orbax-checkpoint-tmp* */*.orbax-checkpoint-tmp*; do
    [ ! -e "$part" ] || incomplete "$part is still being written"
  done
}

# A manifest of the program's own. What is named must be there as it is named: with this hash, or of this many bytes.
check_manifest() {
  [ "$(tail -c 1 "$manifest" | od -An -tu1 | tr -d ' ')" = 10 ] || incomplete 'the manifest is empty or cut short'
  awk '
    !/^[0-9a-f]+ [ *][^ ]/ { exit 1 }
    {
      sum = $1; name = substr($0, length(sum) + 3)
      if (length(sum) != 64 && (sum !~ /^[0-9]+$/ || length(sum) > 15)) exit 1
      sub(/^\.\//, "", name)
      if (name ~ /[\001-\037\177\\]/ || name ~ /(^|\/)\.?\.?(\/|$)/) exit 1
      print (length(sum) == 64 ? "hash" : "size"), sum, name
    }' "$manifest" > "$scratch" || incomplete 'a line of the manifest is not "<sha256 or bytes>  <relative path>"'
  names_save=
  while read -r kind sum name; do
    [ "$name" != "${save##*/}" ] || names_save=yes
    [ -f "./$name" ] || incomplete "$name is missing, and the manifest names it"
    if [ "$kind" = size ]; then
      [ -n "$(find "./$name" -prune -size "${sum}c")" ] || incomplete "$name has not the $sum bytes that the manifest says"
    fi
  done < "$scratch"
  [ -d "$save" ] || [ -n "$names_save" ] || incomplete "the manifest does not name ${save##*/}"
  if grep -q '^hash ' "$scratch"; then
    command -v sha256sum > /dev/null || incomplete 'this node has no sha256sum to check the manifest with'
    wrong=$(sed -n 's/^hash \([0-9a-f]*\) \(.*\)$/\1  .\/\2/p' "$scratch" | sha256sum -c - 2> /dev/null | grep -v ': OK$' | head -n 1)
    [ -z "$wrong" ] || incomplete "the manifest's hash does not fit: $wrong"
  fi
}

# In a bucket only names and sizes are looked at: lines of "<bytes> <key after the save's>" in $scratch.
stored() { awk -v want="$1" '{ size = $1; sub(/^[0-9]+ /, "") } $0 ~ want && size > 0 { found = 1 } END { exit !found }' "$scratch"; }
check_bucket() {
  list_bucket "$key/$relative/" > "$scratch" || incomplete "the bucket could not be listed${tool:+ by $tool}: $why"
  if [ -n "$manifest" ]; then
    [ "$(tail -c 1 "$manifest" | od -An -tu1 | tr -d ' ')" = 10 ] || incomplete 'the manifest is empty or cut short'
    wrong=$(awk -v listed="$scratch" '
      BEGIN { while ((getline line < listed) > 0) { size = line; sub(/ .*/, "", size); sub(/^[0-9]+ /, "", line); bytes[line] = size } }
      !/^[0-9]+ [ *][^ ]/ || length($1) > 15 { print "a line of the manifest is not \"<bytes>  <relative path>\": hashes cannot be checked in a bucket"; exit }
      {
        name = substr($0, length($1) + 3); sub(/^\.\//, "", name)
        if (!(name in bytes)) { print name " is missing, and the manifest names it"; exit }
        if (bytes[name] + 0 != $1 + 0) { print name " has not the " $1 " bytes that the manifest says"; exit }
      }' "$manifest")
    [ -z "$wrong" ] || incomplete "$wrong"
    return 0
  fi
  [ -s "$scratch" ] || incomplete "nothing is stored below $save/: a single object needs a --manifest beside it"
  if [ -z "$framework" ]; then
    if stored '^commit_success[.]txt$' || stored '^_CHECKPOINT_METADATA$'; then framework=orbax
    elif stored '^trainer_state[.]json$'; then framework=huggingface
    else framework=torch-dcp; fi
  fi
  case $framework in
    torch-dcp)
      stored '^[.]metadata$' || incomplete '.metadata is missing or empty (the coordinator writes it when every rank has written)'
      stored '[.]distcp$' || incomplete 'no .distcp object in the save' ;;
    huggingface)
      stored '^trainer_state[.]json$' || incomplete 'trainer_state.json is missing or empty (the trainer writes it after the weights)'
      stored '[.](safetensors|bin|distcp|pt)$' || incomplete 'no weights of a model are there' ;;
    # A bucket renames nothing at once, so orbax writes this last.
    orbax) awk '$2 == "commit_success.txt" { found = 1 } END { exit !found }' "$scratch" || incomplete 'commit_success.txt is missing: it is written last' ;;
    *) invalid "a $framework save in a bucket needs a --manifest: what tells that it is complete is inside its files" ;;
  esac
}

recognise() {
  case $relative in *.orbax-checkpoint-tmp*) framework=orbax; return 0 ;; esac
  if [ -f _CHECKPOINT_METADATA ] || [ -f orbax.checkpoint ] || [ -f commit_success.txt ]; then framework=orbax
  elif [ -f latest_checkpointed_iteration.txt ] || [ -f common.pt ] || first mp_rank_*/model_optim_rng.pt; then framework=megatron
  elif [ -f trainer_state.json ] || first model*.safetensors* || first pytorch_model*.bin* || first adapter_model.*; then framework=huggingface
  elif [ -f latest ] || first *mp_rank_*_model_states.pt; then framework=deepspeed
  elif [ -f .metadata ] || [ -f .metadata.tmp ] || first *.distcp; then framework=torch-dcp
  else incomplete 'nothing here tells when this save is complete: name a --framework or give a --manifest'; fi
}

if [ -n "$manifest" ]; then
  [ -f "$manifest" ] && [ -r "$manifest" ] || invalid "the manifest $manifest cannot be read"
  case $manifest in /*) ;; *) manifest=$(pwd)/$manifest ;; esac
fi
make_scratch
if [ -n "$bucket" ]; then
  [ -n "$tool" ] || incomplete "$why"
  check_bucket
else
  cd -P -- "$folder" || invalid "$folder cannot be entered"
  if [ -n "$manifest" ]; then
    check_manifest
  else
    [ -d "$save" ] || incomplete 'a single file needs a --manifest: nothing else tells when it is complete'
    [ -n "$framework" ] || recognise
    case $framework in
      torch-dcp) check_torch_dcp '' ;;
      deepspeed) check_deepspeed '' ;;
      megatron) check_megatron ;;
      huggingface) check_huggingface ;;
      orbax) check_orbax ;;
    esac
  fi
fi

# Durable -------------------------------------------------------------------------------------------------------------------------

# Before the marker, or a crash of the node could leave a marker whose save is gone. The folders above it hold its name.
make_durable() {
  find "$save" \( -type f -o -type d \) -exec sync {} + 2> /dev/null || return 1
  above=$save
  while [ "$above" != "$root" ]; do
    above=${above%/*}
    sync "$above" 2> /dev/null || return 1
  done
}
# A bucket has it when it has answered.
if [ -z "$bucket" ] && ! make_durable; then
  # Either the disk refused, or this node's `sync` takes no files: then it can only be told to write everything.
  if sync "$root" 2> /dev/null; then incomplete 'its files could not be written to stable storage'; fi
  sync || incomplete 'its files could not be written to stable storage'
fi
# That may have taken long.
refuse_late

# Announced -----------------------------------------------------------------------------------------------------------------------

if [ -n "$bucket" ]; then
  put_once "$key/pub/$name"
  case $? in 0) ;; 1) say 'already there'; exit 1 ;; *) incomplete "the marker could not be made in $root/pub: $why" ;; esac
elif (set -C; : > "$marker") 2> /dev/null; then
  sync "$marker" "$root/pub" 2> /dev/null || sync
else
  if [ -e "$marker" ]; then say 'already there'; exit 1; fi
  incomplete "the marker could not be made in $root/pub"
fi
printf 'published step %s: %s\n' "$step" "$relative"

# Reported ------------------------------------------------------------------------------------------------------------------------

# A report only makes it known sooner: the marker alone is enough, so nothing here unmakes a publication.
report() {
  url=${DISPATCH_API_URL:-} token=
  if [ -z "$url" ] || [ -z "${DISPATCH_TOKEN_FILE:-}" ] || [ ! -s "$DISPATCH_TOKEN_FILE" ]; then return 0; fi
  read -r token < "$DISPATCH_TOKEN_FILE" || [ -n "$token" ] || return 0
  case $token in *[!A-Za-z0-9._~+/=-]*) say 'not reported: the token cannot be read'; return 0 ;; esac
  if ! command -v curl > /dev/null; then say 'not reported: this node has no curl'; return 0; fi
  if [ -n "$bucket" ]; then size=$(awk '{ sum += $1 } END { printf "%.0f", sum }' "$scratch")
  else size=$(find "$save" -type f -exec ls -ln {} + | awk '{ sum += $5 } END { printf "%.0f", sum }'); fi
  escaped=$(printf '%s' "$relative" | sed 's/[\\"]/\\&/g')
  # The token comes by standard input: a command line can be read by everybody on the node.
  answer=$(printf 'header = "Authorization: Bearer %s"\n' "$token" |
    curl -q -sS --config - --connect-timeout 5 --max-time 15 --max-filesize 65536 -w '\n%{http_code}' \
      -H 'content-type: application/json' \
      --data-binary "{\"epoch\":$epoch,\"step\":$step,\"path\":\"$escaped\",\"size\":$size}" \
      "${url%/}/jobs/${DISPATCH_JOB:-}/checkpoints" 2>&1)
  status=${answer##*"$newline"}
  case $status in 2??) return 0 ;; esac
  case $answer in *checkpoint/late*) [ "$status" != 409 ] || late 'a later run was given its point before this was announced' ;; esac
  say "published, but not reported: $(printf '%s' "${answer:-no answer}" | tr '\n' ' ' | cut -c 1-300)"
}
report
exit 0
}
