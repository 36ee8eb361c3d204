/**
 * Other pages: blocks outside of the tutorial and the guides. They are not followed from top to bottom, so each is proved by itself here,
 * or named with the reason why not. A block that is not on this list, nor marked `not-run: REASON` on its page, fails a test.
 */

import { runDemo } from '../../lib/cli/run-demo.ts';
import { readConfiguration } from '../../lib/cluster/configuration.ts';
import { parseSpec } from '../../lib/job/parse-spec.ts';
import { virtualClock } from '../../lib/local/clock.ts';
import { numbers } from '../contract/core/life.ts';
import { differs } from './matches.ts';
import { pageText } from './site.ts';

export interface Covered {
  readonly page: string;
  /** How the block begins. */
  readonly begins: string;
  /** What is wrong with it; undefined: nothing. */
  readonly check?: (text: string) => string | undefined | Promise<string | undefined>;
  /** Of one that is not checked here. */
  readonly reason?: string;
  /** Commands whose answer the block shows, run against a dispatch of their own; '': the block holds the commands. */
  readonly answers?: string;
}

/** A block of nothing but npm's commands: each is proved where its script is; here, that there is such a script. */
export const isOfNpm = (text: string): boolean =>
  text.split('\n').every((line) => /^(npm ci && )?npm (run )?[a-z:]+( --? ?[^&|;]*)?( *#.*)?$/.test(line));
export const missingScripts = (text: string): readonly string[] => {
  const { scripts } = JSON.parse(pageText('package.json')) as { scripts: Record<string, string> };
  return [...text.matchAll(/npm (?:run )?([a-z:]+)/g)].map(([, name]) => name!).filter((name) => name !== 'ci' && !(name in scripts));
};

/** The lines of a story, in this order, among those that the demo prints. */
const demoTells = async (text: string): Promise<string | undefined> => {
  const clock = virtualClock(Date.UTC(2030, 0, 1));
  let [printed, ended] = ['', false];
  const out = (said: string): void => {
    printed += said;
  };
  const around = { clock, random: numbers(17), environment: {}, out, warn: out, dim: (said: string) => said };
  const ends = runDemo([], around).finally(() => {
    ended = true;
  });
  for (let round = 0; !ended && round < 100_000; round++) await clock.advanceToNext();
  await ends;
  const varying = /^\+ *[\d.]+ s {2}|\d\d:\d\d:\d\d|\bd[0-9a-z]{4}-[0-9a-z]{16}/gm;
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const shown = ['…', ...lines.flatMap((line) => [line.replaceAll(varying, '…'), '…'])].join('\n');
  return differs('text', shown, printed);
};

const configures = (text: string): string | undefined => {
  const read = readConfiguration(text);
  return read.ok ? undefined : read.says;
};

/** The spec that a request of curl sends, or that stands alone. */
const isSpec = (text: string): string | undefined => {
  const parsed = parseSpec(JSON.parse(/-d '(\{[\s\S]*\})'/.exec(text)?.[1] ?? text));
  return parsed.ok ? undefined : parsed.refusals[0]!.says;
};

export const OTHER_BLOCKS: readonly Covered[] = [
  { page: 'README.md', begins: '+  0.0 s', check: demoTells },
  { page: 'README.md', begins: 'curl -s localhost:8080/jobs', check: isSpec, answers: '' },
  { page: 'README.md', begins: 'you ──', reason: 'a picture' },
  { page: 'README.md', begins: 'statemachines/', reason: 'the folders, as a list' },
  { page: 'docs/cost.md', begins: '{ "observability"', reason: 'test/infra/deployment.test.ts reads this switch' },
  { page: 'docs/checkpoints.md', begins: 'torchrun', reason: 'it needs PyTorch' },
  { page: 'docs/checkpoints.md', begins: 'dcp.save', reason: 'it needs PyTorch' },
  {
    page: 'docs/checkpoints.md',
    begins: 'dispatch-publish [',
    reason: 'usage; every option is tested in test/checkpoint/publisher.test.ts',
  },
  {
    page: 'docs/checkpoints.md',
    begins: 'cd "$DISPATCH_EXEC_DIR',
    reason: 'the same commands run in docs/how-to/publish-and-resolve-checkpoints.md',
  },
  {
    page: 'docs/checkpoints.md',
    begins: 'path = f"exec',
    reason: 'the name of a marker is held to marker.ts by test/checkpoint/publisher.test.ts',
  },
  { page: 'docs/configuration.md', begins: '{', check: configures },
  {
    page: 'docs/errors.md',
    begins: '{',
    answers: `curl -s localhost:8080/jobs -H 'content-type: application/json' -d '{
      "name": "x", "cluster": "demo", "resources": {"nodes": 0}, "program": {"command": ["x"]}, "timelimit": "1h", "timeLimit": "1h",
      "policy": {"unmatched": "stop", "limits": {"attempts": 1}}}'`,
  },
  { page: 'docs/local.md', begins: 'dispatch listens on', reason: 'the same answer is compared in docs/tutorial.md' },
  {
    page: 'docs/local.md',
    begins: 'aws stepfunctions',
    reason: 'it needs the AWS CLI; docs/how-to/answer-questions.md sends the same call',
  },
  { page: 'docs/memory-cluster.md', begins: '{\n  "extensions"', reason: 'parsed in test/cluster/memory/script.test.ts' },
  { page: 'docs/memory-cluster.md', begins: '[[{ "program"', reason: 'parsed in test/cluster/memory/script.test.ts' },
  { page: 'docs/memory-cluster.md', begins: '[[{ "notNow"', reason: 'parsed in test/cluster/memory/script.test.ts' },
  { page: 'docs/memory-cluster.md', begins: '{ "jobs"', reason: 'parsed in test/cluster/memory/script.test.ts' },
  { page: 'docs/memory-cluster.md', begins: 'const world', reason: 'every test of the memory cluster begins so' },
  { page: 'docs/notices.md', begins: 'GET /notices', reason: 'the same request is made in docs/how-to/watch-state-changes.md' },
  { page: 'docs/reference/policy-and-plan.md', begins: '{', check: isSpec },
  { page: 'statemachines/README.md', begins: 'stateDiagram-v2', reason: 'a picture' },
];
