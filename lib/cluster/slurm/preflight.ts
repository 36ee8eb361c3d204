/**
 * Preflight: one remote program that asks a cluster what it is, and what the answers mean as facts. Nothing is created; the dry
 * run of a submission uses up a job id and nothing else.
 *
 * Invariant: what could not be read has a safe default that is named as such, or is left out; it is never guessed from a version.
 */
import type { ClusterFacts } from '../../job/capability.ts';
import { TIMING } from '../../job/timing.ts';
import type { Root } from './paths.ts';
import { type Answers, clockOf } from './remote.ts';
import { quote } from './transport/quote.ts';

/** `defaults`: what jobs of this login ask for where they say nothing. */
export const probeProgram = (
  { root, tag }: Root,
  defaults: { readonly account?: string; readonly qos?: string; readonly partition?: string } = {},
): string => `ask clock date +%s
ask id id
ask config slurm 20 scontrol show config
ask ping slurm 20 scontrol ping
ask partitions slurm 20 scontrol -o show partition
ask squeue slurm 20 squeue --me --local -h -t all -O JobID:,State:
ask sacct slurm 20 sacct -nPX -S now-1hour -o JobIDRaw
tools() { for t in sbatch squeue sacct scontrol scancel srun timeout sha256sum base64 mktemp dd awk od setsid bash readlink apptainer singularity curl aws; do command -v "$t" > /dev/null && printf '%s\\n' "$t"; done; }
ask tools tools
ask curl curl --version
pyxis() { slurm 20 srun --help | grep -q -e --container-image; }
ask pyxis pyxis
root=${quote(root)}
# Where control folders go may have been made by another login of this deployment, and be closed to this one.
writable() {
  for d in "$root" "$root"/${quote(tag)}; do
    [ "$d" = "$root" ] || [ -e "$d" ] || continue
    [ -d "$d" ] && [ -w "$d" ] && [ -x "$d" ] && continue
    printf '%s does not exist or cannot be written to\n' "$d"
    return 1
  done
}
ask root writable
ask dry slurm 40 sbatch --test-only --time=1 --nodes=1${Object.entries(defaults)
  .map(([name, value]) => ` ${quote(`--${name}=${value}`)}`)
  .join('')} --wrap=:
`;

/** `Key = value` lines; keys are as the controller prints them. */
export const parseConfig = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text.split('\n').flatMap((line) => {
      const parts = /^([A-Za-z_][\w[\]]*)\s+= (.*)$/.exec(line);
      return parts ? [[parts[1]!, parts[2]!.trim()] as const] : [];
    }),
  );

/** `01:00:00`, `7-00:00:00`; undefined for UNLIMITED and whatever else is no time. */
export const parseSlurmTime = (text: string): number | undefined => {
  const parts = /^(?:(\d+)-)?(\d+):(\d{2}):(\d{2})$/.exec(text);
  if (!parts) return undefined;
  const [days, hours, minutes, seconds] = parts.slice(1).map((part) => Number(part ?? 0));
  return days! * 86_400 + hours! * 3600 + minutes! * 60 + seconds!;
};

export const parsePartitions = (text: string): ClusterFacts['partitions'] =>
  text.split('\n').flatMap((line) => {
    const said = new Map(line.split(' ').map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)] as const));
    const name = said.get('PartitionName');
    if (name === undefined) return [];
    const maxSeconds = parseSlurmTime(said.get('MaxTime') ?? '');
    const nodes = Number(said.get('TotalNodes') ?? 0);
    return [
      {
        name,
        isDefault: said.get('Default') === 'YES',
        ...(maxSeconds === undefined ? {} : { maxSeconds }),
        nodes: Number.isInteger(nodes) ? nodes : 0,
        up: said.get('State') === 'UP',
      },
    ];
  });

/** `88`, `1-3,88`, `(null)`. */
export const parseCodes = (text: string | undefined): readonly number[] =>
  (text ?? '').split(',').flatMap((part) => {
    const range = /^(\d{1,3})(?:-(\d{1,3}))?$/.exec(part.trim());
    if (!range) return [];
    const [from, to] = [Number(range[1]), Number(range[2] ?? range[1])];
    return Array.from({ length: Math.max(0, Math.min(to, 255) - from + 1) }, (_, i) => from + i);
  });

/** How long a request can still be honoured after its sender died: the life of the credential that it carries (seen live). */
export const credentialLife = (config: ReadonlyMap<string, string>): number => {
  const ttl = /(?:^|,)ttl=(\d{1,6})(?:,|$)/.exec(config.get('AuthInfo') ?? '')?.[1];
  // Munge's own default is the same number as ours; other plug-ins are not read, so they get it too.
  return ttl === undefined || Number(ttl) === 0 ? TIMING.credentialLifeSeconds : Number(ttl);
};

export const factsOf = (answers: Answers, nowMs: number): ClusterFacts => {
  const config = parseConfig(answers.get('config')?.stdout ?? '');
  const clock = clockOf(answers);
  return {
    scheduler: `slurm ${config.get('SLURM_VERSION') ?? 'unknown'}`,
    credentialLifeSeconds: credentialLife(config),
    clockOffsetMs: clock === undefined ? 0 : clock - nowMs,
    partitions: parsePartitions(answers.get('partitions')?.stdout ?? ''),
    requeueExitCodes: [...new Set([...parseCodes(config.get('RequeueExit')), ...parseCodes(config.get('RequeueExitHold'))])].sort(
      (a, b) => a - b,
    ),
    user: /uid=\d+\(([^)]*)\)/.exec(answers.get('id')?.stdout ?? '')?.[1] ?? '',
  };
};
