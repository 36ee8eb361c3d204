/**
 * synth: how long the deployment's templates take to be made, against the bundling of its functions alone; and how large they are, against
 * what CloudFormation takes. The deployment is the example of docs/deploy.md.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bundleAll } from '../../infra/bundle.ts';
import { type Measure, median, tell } from './measure.ts';

const ROOT = join(import.meta.dirname, '../..');
const EXAMPLE = 'docs/examples/slurm-behind-a-bastion.json';
/** What one template may weigh and hold (CloudFormation). */
const TEMPLATE_BYTES = 1_000_000;
const TEMPLATE_RESOURCES = 500;
const TURNS = 2;

const folder = await mkdtemp(join(tmpdir(), 'dispatch-synth-'));

/** Seconds of one synthesis, as the CDK's command line makes it. */
const synth = async (out: string): Promise<number> => {
  const environment = { CDK_OUTDIR: out, CDK_VALIDATION: 'false', CDK_CONTEXT_JSON: JSON.stringify({ deployment: EXAMPLE }) };
  const began = performance.now();
  await promisify(execFile)(process.execPath, ['infra/app.ts'], { cwd: ROOT, timeout: 60_000, env: { ...process.env, ...environment } });
  return (performance.now() - began) / 1000;
};

const templates = async (out: string): Promise<readonly { readonly bytes: number; readonly resources: number }[]> => {
  const names = (await readdir(out)).filter((name) => name.endsWith('.template.json'));
  return Promise.all(
    names.map(async (name) => {
      const template = JSON.parse(await readFile(join(out, name), 'utf8')) as { readonly Resources?: object };
      // As it is sent: without what only makes it readable.
      return { bytes: Buffer.byteLength(JSON.stringify(template)), resources: Object.keys(template.Resources ?? {}).length };
    }),
  );
};

const measured = async (): Promise<readonly Measure[]> => {
  const [ours, theirs]: [number[], number[]] = [[], []];
  for (let turn = 0; turn < TURNS; turn++) {
    ours.push(await synth(join(folder, `out-${turn}`)));
    const began = performance.now();
    bundleAll(join(folder, `bundles-${turn}`), '{}');
    theirs.push((performance.now() - began) / 1000);
  }
  const made = await templates(join(folder, 'out-0'));
  return [
    { name: 'synth, s', value: median(ours) },
    { name: 'bundling alone, s', value: median(theirs) },
    { name: 'synth, in that of bundling alone', value: median(ours) / median(theirs), bound: { atMost: 3 } },
    { name: 'largest template, KiB', value: Math.max(...made.map(({ bytes }) => bytes)) / 1024 },
    {
      name: 'largest template, of what CloudFormation takes',
      value: Math.max(...made.map(({ bytes }) => bytes)) / TEMPLATE_BYTES,
      bound: { atMost: 0.5 },
    },
    {
      name: 'most resources, of what CloudFormation takes',
      value: Math.max(...made.map(({ resources }) => resources)) / TEMPLATE_RESOURCES,
      bound: { atMost: 0.5 },
    },
  ];
};

try {
  tell(await measured());
} finally {
  await rm(folder, { recursive: true, force: true });
}
