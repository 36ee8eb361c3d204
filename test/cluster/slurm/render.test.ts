import { describe, expect, it } from 'vitest';
import { render } from '../../../lib/cluster/slurm/render.ts';
import { wrapperText } from '../../../lib/cluster/slurm/wrapper.ts';
import type { Probe } from '../../../lib/job/capability.ts';
import type { Spec } from '../../../lib/job/spec.ts';

const capability = (support: 'yes' | 'no' | 'partly', evidence = '') => ({ support, evidence, probedAt: 0 });
const probe = (over: { version?: string; containers?: string; accounting?: 'yes' | 'partly' } = {}): Probe =>
  ({
    probedAt: 0,
    facts: {
      scheduler: `slurm ${over.version ?? '22.05.8'}`,
      credentialLifeSeconds: 300,
      clockOffsetMs: 0,
      partitions: [
        { name: 'batch', isDefault: true, maxSeconds: 3600, nodes: 3, up: true },
        { name: 'old', isDefault: false, nodes: 1, up: false },
      ],
      requeueExitCodes: [88],
      user: 'alice',
    },
    capabilities: {
      containers: over.containers ? capability('yes', over.containers) : capability('no', 'none'),
      outcome_survives_purge: capability(over.accounting ?? 'yes'),
    },
  }) as unknown as Probe;

const spec = (over: Partial<Spec> = {}, program: Partial<Spec['program']> = {}, resources: Partial<Spec['resources']> = {}): Spec => ({
  name: 'x',
  cluster: 'c1',
  resources: { nodes: 2, tasksPerNode: 4, gpusPerNode: 0, ...resources },
  program: { command: ['python', 'train.py', "it's"], env: {}, secrets: {}, ...program },
  timeLimitSeconds: 600,
  patienceSeconds: 600,
  policy: { rules: [], unmatched: 'stop', limits: { attempts: 1 } },
  labels: {},
  extensions: {},
  ...over,
});
const gpus = { a100: { gres: 'gpu:a100' }, h100: { constraint: 'h100' } };
const facts = { at: { root: '/shared/dispatch', tag: 'tst0' }, cluster: 'c1', gpus, apiUrl: '' };
const rendered = (of: Spec = spec(), how: Parameters<typeof render>[2]['requeue'] = 'never', at = probe()) =>
  render(of, at, { requeue: how, patienceSeconds: 600 }, facts);

describe('contract §6: the rendering', () => {
  it('shows what is sent, with placeholders where an attempt fills in, and is the same each time', () => {
    const { text } = rendered();
    for (const part of [
      '--job-name={identity}',
      '--begin=uts{begin}',
      '--deadline=uts{deadline}',
      '{bound}',
      "d_resume='{resume}'",
      '/shared/dispatch/tst0/{job}',
      '{wrapper}.sh',
    ]) {
      expect(text).toContain(part);
    }
    expect(text).toContain("'--kill-on-bad-exit=1' '--ntasks=8' '--ntasks-per-node=4'");
    expect(rendered().text).toBe(text);
  });

  it.each([
    ['never', '22.05.8', { mechanism: 'begin', selfDestructs: true }, ['--no-requeue', '--begin', '--deadline'], ['--hold']],
    ['scheduler', '22.05.8', { mechanism: 'hold', selfDestructs: false }, ["'--requeue'", '--hold'], ['--deadline', '--begin']],
    [
      'supervisor',
      '22.05.8',
      { mechanism: 'hold', selfDestructs: false },
      ['--no-requeue', '--hold', "d_allow_requeue='yes'"],
      ['--deadline'],
    ],
    ['never', '23.11.4', { mechanism: 'begin_push', selfDestructs: true }, ['--begin', '--deadline'], ['--hold']],
    ['never', '24.05.1', { mechanism: 'hold_deadline', selfDestructs: true }, ['--hold', '--deadline'], ['--begin']],
  ] as const)('P4.1: requeue %s under %s', (how, version, gate, has, hasNot) => {
    const { text, gate: said, refusals } = rendered(spec(), how, probe({ version }));
    expect(said).toMatchObject(gate);
    expect(refusals).toEqual([]);
    for (const part of has) expect(text).toContain(part);
    for (const part of hasNot) expect(text.split('\n')[1]).not.toContain(part);
  });

  it.each([
    ['cluster', spec(), probe({ version: '19.05.1' })],
    ['program.image', spec({}, { image: 'x' }), probe()],
    ['program.env.A-B', spec({}, { env: { 'A-B': 'x' } }), probe()],
    ['program.env.A', spec({}, { env: { A: 'a\0b' } }), probe()],
    ['program', spec({}, { command: ['a\0'] }), probe()],
    ['program', spec({ extensions: { slurm: { account: 'a\0' } } }), probe()],
    ['program.workdir', spec({}, { workdir: 'here' }), probe()],
    ['checkpoint.root', spec({ checkpoint: { root: 's3://b/p', required: false } }), probe()],
    ['checkpoint.root', spec({ checkpoint: { root: 'relative', required: false } }), probe()],
    ['checkpoint.root', spec({ checkpoint: { root: '/a,/etc:/etc', required: false } }, { image: 'x' }), probe()],
    ['resources.gpuType', spec({}, {}, { gpusPerNode: 1, gpuType: 'v100' }), probe()],
    ['extensions.slurm.partition', spec({ extensions: { slurm: { partition: 'nosuch' } } }), probe()],
    ['timeLimit', spec({ timeLimitSeconds: 3601 }), probe()],
  ] as const)('what this cluster cannot do is refused with its path: %s', (path, of, at) => {
    expect(rendered(of, 'never', at).refusals.map((one) => one.path)).toContain(path);
  });

  it('P8.1: an s3:// root is taken where the configuration names its bucket, and refused with the names elsewhere', () => {
    const inBucket = spec({ checkpoint: { root: 's3://saves/runs', required: false } });
    const on = (buckets: Parameters<typeof render>[3]['buckets']) =>
      render(inBucket, probe(), { requeue: 'never', patienceSeconds: 600 }, { ...facts, ...(buckets ? { buckets } : {}) });
    const { refusals, text } = on({ saves: { region: 'eu-central-1', endpoint: 'https://s3.example.org' } });
    expect(refusals).toEqual([]);
    for (const part of ["d_root='s3://saves/runs/{job}'", 'eu-central-1', 'https://s3.example.org']) expect(text).toContain(part);
    expect(on({ other: { region: 'x' } }).refusals).toEqual([
      { path: 'checkpoint.root', says: 'the configuration of this cluster names no bucket saves; it names other' },
    ]);
    expect(on(undefined).refusals[0]?.says).toContain('it names none');
    // A name of an object's own is no bucket of ours.
    expect(on({}).refusals).toHaveLength(1);
    expect(rendered().text).not.toContain('d_bucket=');
    // Nothing of a bucket is mounted into an image, so what separates mounts may stand in it.
    const image = render(
      { ...inBucket, program: { ...inBucket.program, image: 'img' } },
      probe({ containers: 'apptainer: on the login node' }),
      { requeue: 'never', patienceSeconds: 600 },
      { ...facts, buckets: { saves: { region: 'x' } } },
    );
    expect(image.refusals).toEqual([]);
    expect(image.text.split('\n').find((line) => line.includes("'--bind'"))).not.toContain('s3://');
  });

  it('what may surprise is a warning', () => {
    const paths = (of: Spec, at = probe(), how: 'never' | 'scheduler' = 'never') => rendered(of, how, at).warnings.map((one) => one.path);
    expect(paths(spec())).toEqual([]);
    expect(paths(spec({ timeLimitSeconds: 90 }))).toEqual(['timeLimit']);
    expect(paths(spec({}, { script: 'echo a\r\n' }))).toEqual(['program.script']);
    expect(paths(spec({}, { script: '#!/bin/bash\n#SBATCH --gres=gpu:8\n' }))).toEqual(['program.script']);
    expect(paths(spec({}, {}, { nodes: 4 }))).toEqual(['resources.nodes']);
    expect(paths(spec({ extensions: { slurm: { partition: 'old' } } }))).toContain('extensions.slurm.partition');
    expect(paths(spec(), probe({ accounting: 'partly' }))).toEqual(['cluster']);
    expect(paths(spec({}, { secrets: { A: { ref: 'r' } } }), probe(), 'scheduler')).toEqual(['program.secrets']);
  });

  it('C028: of a command’s tasks the first that fails ends all, and the plan says by whom', () => {
    const { text, enforces } = rendered(spec({}, { command: ['train'] }));
    expect(text).toContain("'--kill-on-bad-exit=1'");
    expect(enforces.oneTaskFails).toContain('--kill-on-bad-exit=1');
    const script = spec({ program: { script: ':', env: {}, secrets: {} } });
    expect(rendered(script).enforces.oneTaskFails).toContain('the script itself');
  });

  it('resources and extensions become options', () => {
    const of = spec(
      { extensions: { slurm: { partition: 'batch', account: 'a', qos: 'q', constraint: 'x|y', reservation: 'r', exclude: ['n1', 'n2'] } } },
      {},
      { gpusPerNode: 8, gpuType: 'h100', cpusPerTask: 6, memoryPerNodeMi: 2048 },
    );
    const line = rendered(of).text.split('\n')[1]!;
    for (const option of [
      '--partition=batch',
      '--account=a',
      '--qos=q',
      '--constraint=(x|y)&(h100)',
      '--reservation=r',
      '--exclude=n1,n2',
      '--gres=gpu:8',
      '--cpus-per-task=6',
      '--mem=2048M',
    ]) {
      expect(line).toContain(`'${option}'`);
    }
    expect(rendered(spec({}, {}, { gpusPerNode: 4, gpuType: 'a100' })).text).toContain("'--gres=gpu:a100:4'");
  });

  it.each([
    ['pyxis: srun knows --container-image', ['--container-image=img']],
    ['apptainer: on the login node', ["'apptainer' 'exec' '--bind'", "'img' 'python'"]],
  ])('containers by %s', (containers, parts) => {
    const { text, refusals } = rendered(spec({}, { image: 'img' }), 'never', probe({ containers }));
    expect(refusals).toEqual([]);
    for (const part of parts) expect(text).toContain(part);
  });

  it('hostile text stays one word each', () => {
    const text = wrapperText({
      job: 'j',
      cluster: 'c',
      n: 1,
      control: "/a'; rm -rf $HOME; '",
      checkpoints: '/k`id`',
      resume: { epoch: 0, step: -1, path: '' },
      nodes: 1,
      tasksPerNode: 1,
      timeLimitSeconds: 1,
      apiUrl: '',
      env: { A: "'\n}\nexit 0\n" },
      program: { kind: 'command', words: ["'", '}', '\n}\n'] },
      within: [],
      srunOptions: [],
      allowRequeue: false,
      requeueExitCodes: [],
    });
    expect(text).toContain("d_control='/a'\\''; rm -rf $HOME; '\\'''");
    expect(text).toContain("d_root='/k`id`'");
    expect(text).toContain(`export A=''\\'''"$2"'}'"$2"'exit 0'"$2"''\n`);
  });
});
