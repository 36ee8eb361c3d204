/** A second deployment on the same cluster, with another tag: its objects are there, and nobody of ours may touch them (S7). */
import { adapter } from '../../lib/cluster/memory/adapter.ts';
import { identityOf, newJobId, newTag } from '../../lib/job/identity.ts';
import { drawSpec } from './draw.ts';
import { CLUSTER, LOGIN, START_MS, type Stage } from './stage.ts';
import { holds } from './verdict.ts';

const OBJECTS = 2;

/** Their identities. */
export const settleNeighbours = async (stage: Stage): Promise<readonly string[]> => {
  const { random, cluster, shape } = stage;
  const tag = newTag(random.next);
  const session = await adapter(cluster, { tag, cluster: CLUSTER }).connect(LOGIN);
  const probe = await session.probe(START_MS);
  const names: string[] = [];
  for (let i = 0; i < OBJECTS; i++) {
    const job = newJobId(START_MS, random.next);
    const identity = identityOf(tag, job, 1);
    const spec = { ...drawSpec(random, 'neighbour', CLUSTER, shape, START_MS), extensions: {} };
    const clusterNow = (await session.clock())!;
    const gate = session.gateFor(spec, probe, { requeue: 'never', patienceSeconds: spec.patienceSeconds }, clusterNow);
    const answer = await session.submit({
      ...{ job, n: 1, identity, spec, probe, gate, requeue: 'never', excludeNodes: [] },
      ...{ resume: { epoch: 0, step: -1, path: '' }, resources: { timeLimitSeconds: 1e6 }, patienceSeconds: 1e6 },
      ...{ clusterNow, clusterBoundAt: clusterNow + 90_000 },
    });
    holds(answer.kind === 'accepted', 'error', () => `a neighbour was not accepted: ${answer.kind}`);
    names.push(identity);
  }
  return names;
};

export const judgeNeighbours = (stage: Stage, names: readonly string[]): void => {
  for (const name of names) {
    const touched = stage.cluster.state.acts.filter((act) => act.identity === name && act.verb !== 'submit');
    holds(touched.length === 0, 'S7', () => `${name} of another deployment was touched: ${JSON.stringify(touched)}`);
  }
};
