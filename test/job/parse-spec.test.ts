import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonical } from '../../lib/job/canonical.ts';
import { DEEPEST, MOST_VALUES } from '../../lib/job/parse-bounds.ts';
import { parseSpec, SPEC_BYTES } from '../../lib/job/parse-spec.ts';
import { MOST_REFUSALS } from '../../lib/job/refusal.ts';
import { specSchema } from '../../lib/job/spec.ts';
import { EXAMPLE, parsed, policy, RELAUNCH, STOP, written } from './plan-given.ts';

type Json = Record<string, unknown>;

/** The refusals of a spec as `path code`, in order. */
const refused = (input: unknown, kind?: 'slurm' | 'kubernetes' | 'memory'): string[] => {
  const result = parseSpec(input, kind ? { kind } : {});
  return result.ok ? [] : result.refusals.map(({ path, code }) => `${path} ${code}`);
};
const says = (input: unknown, path: string): string => {
  const result = parseSpec(input);
  return result.ok ? '' : (result.refusals.find((refusal) => refusal.path === path)?.says ?? '');
};
const program = (changes: Json): Json => written({ program: { command: ['./train'], ...changes } });
const resources = (changes: Json): Json => written({ resources: { nodes: 2, ...changes } });
const rules = (...given: unknown[]): Json => written({ policy: policy(given) });
const relaunch = (changes: Json): Json => rules({ on: ['preempted'], do: { relaunch: { max: 3, from: 'checkpoint', ...changes } } });
const escalate = (changes: Json): Json =>
  rules({ on: ['exited'], do: { escalate: { options: ['stop', 'relaunch'], expiresAfter: '1d', onExpiry: 'stop', ...changes } } });
const when = (changes: Json): Json => rules({ on: ['exited'], when: changes, do: STOP });
const limits = (changes: Json): Json => written({ policy: policy([], { limits: { attempts: 10, ...changes } }) });
const x = (count: number): string => 'x'.repeat(count);
const many = (count: number, value: unknown = '1'): Json => Object.fromEntries(Array.from({ length: count }, (_, i) => [`N${i}`, value]));
const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: nested(depth - 1) });
const memoryScript = (script: unknown): Json => written({ extensions: { memory: { script } } });
const EMPTY_BYTES = canonical(parsed(memoryScript(''))).length;

describe('what users write becomes the normalized form', () => {
  test('the example is read whole, and the record accepts it', () => {
    const spec = parsed(EXAMPLE);
    expect(specSchema.parse(spec)).toEqual(spec);
    expect(spec).toMatchObject({
      timeLimitSeconds: 86_400,
      deadline: Date.UTC(2030, 2, 1),
      resources: { nodes: 16, memoryPerNodeMi: 245_760 },
      policy: { limits: { attempts: 60, wallClockSeconds: 2_592_000, stalledAfterSeconds: 2700 } },
    });
    expect(spec.policy.rules[2]?.do).toEqual({
      relaunch: {
        max: 5,
        from: 'checkpoint',
        backoff: { initialSeconds: 60, factor: 2, maxSeconds: 1800 },
        excludeNodes: { max: 4 },
      },
    });
  });

  test('every default is filled in', () => {
    const { name: _, ...rest } = parsed({ ...written(), checkpoint: {} });
    expect(rest).toEqual({
      cluster: 'alps',
      resources: { nodes: 2, tasksPerNode: 1, gpusPerNode: 0, memoryPerNodeMi: 245_760 },
      program: { command: ['./train'], env: {}, secrets: {} },
      timeLimitSeconds: 43_200,
      patienceSeconds: 604_800,
      checkpoint: { required: false },
      policy: { rules: [], unmatched: 'stop', limits: { attempts: 10 } },
      labels: {},
      extensions: {},
    });
  });

  test('a relaunch waits 30 s ×2 to 15 min unless told otherwise; a longer first wait raises the most', () => {
    const backoffOf = (backoff?: Json) => {
      const action = parsed(relaunch(backoff ? { backoff } : {})).policy.rules[0]!.do;
      return 'relaunch' in action && action.relaunch.backoff;
    };
    expect(backoffOf()).toEqual({ initialSeconds: 30, factor: 2, maxSeconds: 900 });
    expect(backoffOf({ initial: '0s', factor: 1 })).toEqual({ initialSeconds: 0, factor: 1, maxSeconds: 900 });
    expect(backoffOf({ initial: '1h' })).toEqual({ initialSeconds: 3600, factor: 2, maxSeconds: 3600 });
  });

  test('one exit code or several, repeated names once', () => {
    expect(parsed(when({ exitCode: 143 })).policy.rules[0]?.when).toEqual({ exitCode: [143] });
    expect(parsed(when({ exitCode: [1, 2, 1], message: 'NCCL' })).policy.rules[0]?.when).toEqual({ exitCode: [1, 2], message: 'NCCL' });
    expect(parsed(rules({ on: ['preempted', 'preempted'], do: STOP })).policy.rules[0]?.on).toEqual(['preempted']);
  });

  test.each([
    ['2030-01-31T18:00:00Z', Date.UTC(2030, 0, 31, 18)],
    ['2030-01-31T18:00:00.250+02:00', Date.UTC(2030, 0, 31, 16, 0, 0, 250)],
    ['2028-02-29t00:00:00z', Date.UTC(2028, 1, 29)],
    ['2030-01-01T00:30:00-01:45', Date.UTC(2030, 0, 1, 2, 15)],
  ])('deadline %s', (deadline, at) => expect(parsed(written({ deadline })).deadline).toBe(at));

  test('a checkpoint root loses its slash at the end', () => {
    expect(parsed(written({ checkpoint: { root: '/scratch/a/' } })).checkpoint?.root).toBe('/scratch/a');
    expect(parsed(written({ checkpoint: { root: 's3://bucket/runs/a/' } })).checkpoint?.root).toBe('s3://bucket/runs/a');
  });
});

describe('every limit, at its edge (contract §4, §5)', () => {
  const edges: [string, Json, Json, string][] = [
    ['name 63', written({ name: x(63) }), written({ name: x(64) }), 'name too_long'],
    ['nodes 100,000', resources({ nodes: 100_000 }), resources({ nodes: 100_001 }), 'resources.nodes out_of_range'],
    ['nodes 1', resources({ nodes: 1 }), resources({ nodes: 0 }), 'resources.nodes out_of_range'],
    ['tasksPerNode 1,024', resources({ tasksPerNode: 1024 }), resources({ tasksPerNode: 1025 }), 'resources.tasksPerNode out_of_range'],
    ['gpusPerNode 64', resources({ gpusPerNode: 64 }), resources({ gpusPerNode: 65 }), 'resources.gpusPerNode out_of_range'],
    ['timeLimit 10 years', written({ timeLimit: '3650d' }), written({ timeLimit: '3651d' }), 'timeLimit malformed'],
    [
      'script 64 KiB, in bytes',
      written({ program: { script: `${x(65_534)}é` } }),
      written({ program: { script: `${x(65_535)}é` } }),
      'program.script too_large',
    ],
    [
      'command 1,024 words',
      program({ command: Array(1024).fill('a') }),
      program({ command: Array(1025).fill('a') }),
      'program.command too_many',
    ],
    ['command 64 KiB', program({ command: [x(65_535)] }), program({ command: [x(65_536)] }), 'program.command too_large'],
    ['env 200 names', program({ env: many(200) }), program({ env: many(201) }), 'program.env too_many'],
    [
      'env and secrets 200 names',
      program({ env: many(199), secrets: { S: { ref: 'a' } } }),
      program({ env: many(200), secrets: { S: { ref: 'a' } } }),
      'program.env too_many',
    ],
    [
      'secrets 200 names',
      program({ secrets: many(200, { ref: 'a' }) }),
      program({ secrets: many(201, { ref: 'a' }) }),
      'program.secrets too_many',
    ],
    ['env 32 KiB', program({ env: { A: x(32_767) } }), program({ env: { A: x(32_768) } }), 'program.env too_large'],
    ['labels 10', written({ labels: many(10) }), written({ labels: many(11) }), 'labels too_many'],
    ['label 63', written({ labels: { a: x(63) } }), written({ labels: { a: x(64) } }), 'labels.a too_long'],
    ['label name 63', written({ labels: { [x(63)]: 'a' } }), written({ labels: { [x(64)]: 'a' } }), `labels.${x(64)} too_long`],
    [
      'rules 32',
      rules(...Array(32).fill({ on: ['any'], do: STOP })),
      rules(...Array(33).fill({ on: ['any'], do: STOP })),
      'policy.rules too_many',
    ],
    ['message 200', when({ message: x(200) }), when({ message: x(201) }), 'policy.rules[0].when.message too_long'],
    ['exit code 255', when({ exitCode: 255 }), when({ exitCode: 256 }), 'policy.rules[0].when.exitCode out_of_range'],
    ['exit code in a list', when({ exitCode: [0] }), when({ exitCode: [1, -1] }), 'policy.rules[0].when.exitCode[1] out_of_range'],
    ['signal 64', when({ signal: 64 }), when({ signal: 65 }), 'policy.rules[0].when.signal out_of_range'],
    ['attempts 1,000', limits({ attempts: 1000 }), limits({ attempts: 1001 }), 'policy.limits.attempts out_of_range'],
    ['attempts 1', limits({ attempts: 1 }), limits({ attempts: 0 }), 'policy.limits.attempts out_of_range'],
    ['max 1,000', relaunch({ max: 1000 }), relaunch({ max: 1001 }), 'policy.rules[0].do.relaunch.max out_of_range'],
    [
      'factor 10',
      relaunch({ backoff: { factor: 10 } }),
      relaunch({ backoff: { factor: 10.1 } }),
      'policy.rules[0].do.relaunch.backoff.factor out_of_range',
    ],
    [
      'factor 1',
      relaunch({ backoff: { factor: 1 } }),
      relaunch({ backoff: { factor: 0.9 } }),
      'policy.rules[0].do.relaunch.backoff.factor out_of_range',
    ],
    [
      'scale above 1',
      relaunch({ scale: { timeLimit: { by: 1.01, upTo: '2d' } } }),
      relaunch({ scale: { timeLimit: { by: 1, upTo: '2d' } } }),
      'policy.rules[0].do.relaunch.scale.timeLimit.by out_of_range',
    ],
    [
      'excludeNodes 64',
      relaunch({ excludeNodes: { max: 64 } }),
      relaunch({ excludeNodes: { max: 65 } }),
      'policy.rules[0].do.relaunch.excludeNodes.max out_of_range',
    ],
    [
      'expiresAfter 30 d',
      escalate({ expiresAfter: '30d' }),
      escalate({ expiresAfter: '31d' }),
      'policy.rules[0].do.escalate.expiresAfter out_of_range',
    ],
    [
      'root 512',
      written({ checkpoint: { root: `/${x(511)}` } }),
      written({ checkpoint: { root: `/${x(512)}` } }),
      'checkpoint.root too_long',
    ],
    [
      'exclude 256',
      written({ extensions: { slurm: { exclude: Array(256).fill('n1') } } }),
      written({ extensions: { slurm: { exclude: Array(257).fill('n1') } } }),
      'extensions.slurm.exclude too_many',
    ],
    [
      'nesting',
      memoryScript(nested(DEEPEST - 3)),
      memoryScript(nested(DEEPEST - 2)),
      `extensions.memory.script${'.a'.repeat(DEEPEST - 2)} too_deep`,
    ],
    ['spec 192 KiB', memoryScript(x(SPEC_BYTES - EMPTY_BYTES)), memoryScript(x(SPEC_BYTES - EMPTY_BYTES + 1)), ' too_large'],
  ];
  test.each(edges)('%s: accepted', (_, accepted) => expect(refused(accepted)).toEqual([]));
  test.each(edges)('%s: one more is refused', (_, __, over, refusal) => expect(refused(over)).toEqual([refusal]));

  test('C061: 500 variables are refused with the number', () => {
    expect(says(program({ env: many(500) }), 'program.env')).toBe('env and secrets have 500 names; at most 200 are allowed together');
  });
});

describe('faults, with their path', () => {
  const faults: [string, unknown, string[]][] = [
    ['no object', 'sbatch train.sh', [' wrong_type']],
    ['a list', [], [' wrong_type']],
    ['null', null, [' wrong_type']],
    ['nothing at all', {}, ['name', 'cluster', 'resources', 'program', 'timeLimit', 'policy'].map((key) => `${key} missing`)],
    ['a name with a space', written({ name: 'my run' }), ['name malformed']],
    ['a name with a dash at its end', written({ name: 'run-' }), ['name malformed']],
    ['no time limit', written({ timeLimit: undefined }), ['timeLimit missing']],
    ['an endless time limit', written({ timeLimit: 'unlimited' }), ['timeLimit not_finite']],
    ['forever', written({ timeLimit: 'forever' }), ['timeLimit not_finite']],
    ['a number for a duration', written({ timeLimit: 3600 }), ['timeLimit wrong_type']],
    ['a zero duration', written({ patience: '0s' }), ['patience malformed']],
    ['a memory in GB', resources({ memoryPerNode: '16GB' }), ['resources.memoryPerNode malformed']],
    ['half a node', resources({ nodes: 1.5 }), ['resources.nodes out_of_range']],
    ['nodes as text', resources({ nodes: '2' }), ['resources.nodes wrong_type']],
    ['a type of no GPU', resources({ gpuType: 'a100' }), ['resources.gpuType conflict']],
    ['no program', written({ program: {} }), ['program missing']],
    ['script and command', program({ script: 'true' }), ['program.command conflict']],
    ['an empty script', written({ program: { script: ' \n' } }), ['program.script malformed']],
    ['a command as text', program({ command: './train' }), ['program.command wrong_type']],
    ['an empty command', program({ command: [] }), ['program.command missing']],
    ['saves of an unknown kind', written({ checkpoint: { completionMarker: 'keras' } }), ['checkpoint.completionMarker unknown_value']],
    ['a relative workdir', program({ workdir: 'work' }), ['program.workdir malformed']],
    ['a reserved name', program({ env: { DISPATCH_JOB: 'x' } }), ['program.env.DISPATCH_JOB reserved']],
    ['a reserved secret', program({ secrets: { DISPATCH_TOKEN_FILE: { ref: 'x' } } }), ['program.secrets.DISPATCH_TOKEN_FILE reserved']],
    ['a name that begins with a digit', program({ env: { '1A': 'x' } }), ['program.env["1A"] malformed']],
    ['a name with a sign', program({ env: { 'A-B': 'x' } }), ['program.env["A-B"] malformed']],
    ['a number in env', program({ env: { A: 1 } }), ['program.env.A wrong_type']],
    ['a secret with its value', program({ secrets: { A: 'hunter2' } }), ['program.secrets.A wrong_type']],
    ['one name twice', program({ env: { A: '1' }, secrets: { A: { ref: 'a' } } }), ['program.secrets.A conflict']],
    ['NUL in a command', program({ command: ['a\0b'] }), ['program.command[0] forbidden_character']],
    ['NUL in a name', program({ env: { 'A\0': '1' } }), ['program.env["A\\u0000"] forbidden_character']],
    ['NUL in the spec’s name', written({ name: 'a\0' }), ['name forbidden_character']],
    ['half a surrogate pair', program({ env: { A: '\ud800' } }), ['program.env.A forbidden_character']],
    ['__proto__ as a name', program({ env: JSON.parse('{"__proto__": "x"}') }), ['program.env.__proto__ reserved']],
    ['a date that does not exist', written({ deadline: '2030-02-30T00:00:00Z' }), ['deadline malformed']],
    ['29 February of a common year', written({ deadline: '2030-02-29T00:00:00Z' }), ['deadline malformed']],
    ['an instant without offset', written({ deadline: '2030-02-20T00:00:00' }), ['deadline malformed']],
    ['an instant as a number', written({ deadline: 1_900_000_000 }), ['deadline malformed']],
    ['a relative checkpoint root', written({ checkpoint: { root: 'ckpt' } }), ['checkpoint.root malformed']],
    ['the root itself', written({ checkpoint: { root: '/' } }), ['checkpoint.root malformed']],
    ['a way up', written({ checkpoint: { root: '/scratch/../etc' } }), ['checkpoint.root malformed']],
    ['a bucket without prefix', written({ checkpoint: { root: 's3://bucket/' } }), ['checkpoint.root malformed']],
    ['a partition with a space', written({ extensions: { slurm: { partition: 'a b' } } }), ['extensions.slurm.partition malformed']],
    ['a partition like an option', written({ extensions: { slurm: { partition: '--wrap' } } }), ['extensions.slurm.partition malformed']],
    ['no unmatched', written({ policy: { rules: [], limits: { attempts: 3 } } }), ['policy.unmatched missing']],
    ['no attempts', written({ policy: policy([], { limits: {} }) }), ['policy.limits.attempts missing']],
    ['a policy as a list', written({ policy: [] }), ['policy wrong_type']],
    ['on as text', rules({ on: 'preempted', do: STOP }), ['policy.rules[0].on wrong_type']],
    ['on nothing', rules({ on: [], do: STOP }), ['policy.rules[0].on missing']],
    ['no action', rules({ on: ['any'] }), ['policy.rules[0].do missing']],
    ['an empty action', rules({ on: ['any'], do: {} }), ['policy.rules[0].do missing']],
    ['an action as text', rules({ on: ['any'], do: 'stop' }), ['policy.rules[0].do wrong_type']],
    ['two actions', rules({ on: ['any'], do: { ...STOP, ...RELAUNCH } }), ['policy.rules[0].do conflict']],
    ['no start for a relaunch', relaunch({ from: undefined }), ['policy.rules[0].do.relaunch.from missing']],
    ['another cluster', relaunch({ onCluster: 'eiger' }), ['policy.rules[0].do.relaunch.onCluster unsupported']],
    ['an empty scale', relaunch({ scale: {} }), ['policy.rules[0].do.relaunch.scale missing']],
    ['a backoff that shrinks', relaunch({ backoff: { initial: '5m', max: '1m' } }), ['policy.rules[0].do.relaunch.backoff.max conflict']],
    ['an empty when', when({}), ['policy.rules[0].when missing']],
    ['a scope nobody knows', when({ scope: 'pod' }), ['policy.rules[0].when.scope unknown_value']],
    ['onExpiry outside the options', escalate({ onExpiry: 'wait' }), ['policy.rules[0].do.escalate.onExpiry conflict']],
    [
      'an answer that no rule may offer',
      escalate({ options: ['stop', 'cancel'] }),
      ['policy.rules[0].do.escalate.options[1] unknown_value'],
    ],
    ['no options', escalate({ options: [] }), ['policy.rules[0].do.escalate.options missing']],
    ['two kinds of clusters', written({ extensions: { slurm: {}, kubernetes: {} } }), ['extensions.kubernetes wrong_cluster_kind']],
  ];
  test.each(faults)('%s', (_, input, expected) => expect(refused(input)).toEqual(expected));

  test('an extension of another kind than the cluster, where the kind is known', () => {
    const spec = written({ extensions: { slurm: { partition: 'gpu' } } });
    expect(refused(spec, 'slurm')).toEqual([]);
    expect(refused(spec, 'kubernetes')).toEqual(['extensions.slurm wrong_cluster_kind']);
  });

  test('all faults are reported, not only the first', () => {
    const spec = written({ timeLimit: 'forever', tiemLimit: '1h', policy: policy([{ on: ['oom'], do: { relaunch: { max: 0 } } }]) });
    expect(refused(spec)).toEqual([
      'tiemLimit unknown_key',
      'timeLimit not_finite',
      'policy.rules[0].on[0] unknown_value',
      'policy.rules[0].do.relaunch.max out_of_range',
      'policy.rules[0].do.relaunch.from missing',
    ]);
  });

  test(`at most ${MOST_REFUSALS} are listed, and the last counts the rest`, () => {
    const result = parseSpec(program({ env: many(60, 1) }));
    expect(result.ok ? [] : result.refusals).toHaveLength(MOST_REFUSALS);
    expect(result.ok ? '' : result.refusals.at(-1)).toEqual({
      path: '',
      code: 'more',
      says: '11 more faults are not listed; fix these first',
    });
    const exactly = parseSpec(program({ env: many(50, 1) }));
    expect(exactly.ok ? '' : exactly.refusals.at(-1)?.path).toBe('program.env.N49');
  });
});

describe('the fix is said with the fault', () => {
  test.each<[string, unknown, string, RegExp]>([
    ['a key written in snake case', written({ time_limit: '1h' }), 'time_limit', /did you mean "timeLimit"\?/],
    ['two letters swapped', resources({ ndoes: 2 }), 'resources.ndoes', /did you mean "nodes"\?/],
    ['nothing near', written({ walrus: 1 }), 'walrus', /^is no known key; known: name, project/],
    ['a cause', rules({ on: ['preemption'], do: STOP }), 'policy.rules[0].on[0]', /did you mean "preempted"\?.*known: any, .*vanished/],
    ['an action', rules({ on: ['any'], do: { restart: {} } }), 'policy.rules[0].do.restart', /known: relaunch, requeue, escalate, stop/],
    ['stop as text', rules({ on: ['any'], do: 'stop' }), 'policy.rules[0].do', /\{"stop": \{\}\}/],
    ['memory in GB', resources({ memoryPerNode: '16GB' }), 'resources.memoryPerNode', /write "16Gi"/],
    ['a duration without unit', written({ timeLimit: 3600 }), 'timeLimit', /"3600s"/],
    ['an endless duration', written({ timeLimit: 'infinite' }), 'timeLimit', /finite duration such as "12h"/],
    [
      'no unmatched',
      written({ policy: { rules: [], limits: { attempts: 3 } } }),
      'policy.unmatched',
      /^is required: escalate, stop or relaunch_once$/,
    ],
    ['no time limit', written({ timeLimit: undefined }), 'timeLimit', /^is required: a duration such as/],
    ['one cause as text', rules({ on: 'preempted', do: STOP }), 'policy.rules[0].on', /\["preempted"\]/],
  ])('%s', (_, input, path, expected) => expect(says(input, path)).toMatch(expected));

  test('values of env, secrets, script and command never come back', () => {
    const value = 'hunter2';
    const bad = written({
      program: { env: { A: [value], 'B-': value }, secrets: { S: value, T: { ref: value, value } }, script: [value], command: { value } },
    });
    const result = parseSpec(bad);
    expect(result.ok).toBe(false);
    expect(JSON.stringify(result)).not.toContain(value);
  });

  test('a message is short, whatever the input', () => {
    const result = parseSpec(
      written({ name: x(5000), cluster: '!'.repeat(60), [x(5000)]: 1, policy: policy([{ on: [x(5000)], do: STOP }]) }),
    );
    for (const refusal of result.ok ? [] : result.refusals) expect(refusal.says.length + refusal.path.length).toBeLessThan(800);
  });
});

describe('parseSpec never throws, whatever it is given', () => {
  test('on any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (input) => {
        expect(parseSpec(input).ok).toBe(false);
      }),
      { numRuns: 300, seed: 7 },
    );
  });

  test('on the example with any part replaced: what is accepted fits the record’s schema', () => {
    const spots = pathsOf(EXAMPLE);
    const part = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.constantFrom<unknown>('1h', '16Gi', 1, 'checkpoint', [], {}, ['any'], '/a', true),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom(...spots), part), { minLength: 1, maxLength: 3 }), (changes) => {
        const spec = structuredClone(EXAMPLE);
        for (const [spot, value] of changes) replace(spec, spot, value);
        const result = parseSpec(spec);
        if (result.ok) expect(specSchema.parse(result.spec)).toEqual(result.spec);
        else expect(result.refusals.length).toBeGreaterThan(0);
      }),
      { numRuns: 500, seed: 7 },
    );
  });

  test.each<[string, unknown]>([
    ['null', null],
    ['NUL', '\0'],
    ['an empty text', ''],
    ['zero', 0],
    ['an empty list', []],
    ['a list of NUL', ['\0']],
    ['an object of NUL', { '\0': '\0' }],
    ['an object', {}],
  ])('on the example with each part in turn replaced by %s', (_, value) => {
    for (const spot of pathsOf(EXAMPLE)) {
      const spec = structuredClone(EXAMPLE);
      replace(spec, spot, value);
      const result = parseSpec(spec);
      if (result.ok) expect(specSchema.parse(result.spec)).toEqual(result.spec);
    }
  });

  test('on nesting that would overflow a stack, on cycles, and on too many values', () => {
    let deep: unknown = 1;
    for (let i = 0; i < 200_000; i++) deep = [deep];
    const cycle: Json = {};
    cycle['self'] = cycle;
    expect(refused(memoryScript(deep)).at(-1)).toMatch(/ too_deep$/);
    expect(refused(memoryScript(cycle)).at(-1)).toMatch(/ too_deep$/);
    expect(refused(memoryScript(Array(MOST_VALUES).fill(0)))).toEqual(['extensions.memory.script too_large']);
  });

  test('on what is no JSON at all', () => {
    for (const value of [undefined, Number.NaN, 1n, Symbol('a'), () => 1]) expect(parseSpec(value).ok).toBe(false);
    expect(refused(memoryScript(Number.POSITIVE_INFINITY))).toEqual(['extensions.memory.script wrong_type']);
  });
});

type Spot = readonly (string | number)[];
const pathsOf = (value: unknown, at: Spot = []): Spot[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, member]) => [[...at, key], ...pathsOf(member, [...at, key])])
    : [];

const replace = (root: Json, spot: Spot, value: unknown): void => {
  let holder: unknown = root;
  for (const key of spot.slice(0, -1)) holder = typeof holder === 'object' && holder !== null ? (holder as Json)[key] : undefined;
  if (typeof holder === 'object' && holder !== null) (holder as Json)[spot.at(-1)!] = value;
};
