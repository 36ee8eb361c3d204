/** Cases: what a probe and a rendering promise is what the other cases see (contract §6, §7). */
import { expect, test } from 'vitest';
import { CAPABILITY_NAMES, type CapabilityName, capabilitySchema } from '../../../lib/job/capability.ts';
import type { Cause } from '../../../lib/job/cause.ts';
import type { Support } from './harness.ts';
import type { Cases } from './suite.ts';

/** Which cases show a capability: always run, run where the support is named, or by the causes that the cluster can produce. */
const SHOWN_ALWAYS: readonly CapabilityName[] = [
  'gate',
  'find_by_identity',
  'release',
  'cancel',
  'bulk_observation',
  'checkpoint_files',
  'submit_allowed',
  'output',
];
const SHOWN_BY_SUPPORT: Partial<Record<CapabilityName, Support>> = {
  gate_self_destructs: 'gate_self_destructs',
  landing_bound: 'landing_bound',
  requeue_in_place: 'requeue_in_place',
  start_deadline: 'start_deadline',
  says_why_pending: 'queued',
  counts_restarts: 'requeue_in_place',
  excludes_nodes: 'excludes_nodes',
  detects_progress: 'output_bytes',
};
const SHOWN_BY_CAUSE: Partial<Record<CapabilityName, Cause>> = {
  time_limit: 'time_limit',
  detects_preemption: 'preempted',
  detects_node_loss: 'node_lost',
  detects_out_of_memory: 'out_of_memory',
  exact_exit_codes: 'exited',
};

export const capabilityCases: Cases = (facts, bench) => {
  test('contract §7 every capability is reported, with evidence and time', () => {
    const { probe } = bench();
    expect(Object.keys(probe.capabilities).sort()).toEqual([...CAPABILITY_NAMES].sort());
    for (const name of CAPABILITY_NAMES) expect(capabilitySchema.parse(probe.capabilities[name]).evidence).not.toBe('');
  });

  test('contract §7 a capability that is there is shown by a case, or it is said why it cannot be', () => {
    const { probe } = bench();
    const unshown = CAPABILITY_NAMES.filter((name) => probe.capabilities[name].support === 'yes' && !isShown(facts, name));
    expect(unshown).toEqual([]);
  });

  test('contract §7 what is not there is not claimed by the cases either', () => {
    const { probe } = bench();
    for (const [name, support] of Object.entries(SHOWN_BY_SUPPORT) as [CapabilityName, Support][])
      if (probe.capabilities[name].support === 'no') expect([name, facts.supports.has(support)]).toEqual([name, false]);
  });

  test('contract §7a optional verbs are there where the capability is', () => {
    const { session, probe } = bench();
    expect(session.requeue !== undefined).toBe(probe.capabilities.requeue_in_place.support !== 'no');
    expect(session.outputBytes !== undefined).toBe(probe.capabilities.detects_progress.support === 'yes');
    expect(session.output !== undefined).toBe(probe.capabilities.output.support === 'yes');
  });

  test('contract §11 what a run wrote is read in pieces that are the whole, and nothing before it ran', async () => {
    const { harness, session, launch, release, ended } = bench();
    const attempt = await launch();
    const piece = (offset: number, limit: number) =>
      session.output!({ job: attempt.job, n: attempt.n, run: 0, stream: 'stdout', offset, limit });
    expect((await piece(0, 1024)).kind).toBe('none');
    await release(attempt);
    await ended(attempt, harness.limits.startSeconds + harness.limits.endSeconds);
    const whole = await piece(0, 1024 * 1024);
    if (whole.kind !== 'piece') throw new Error(`no output: ${whole.kind}`);
    expect(whole.bytes.length).toBe(whole.totalBytes);
    const half = Math.ceil(whole.totalBytes / 2);
    const parts = [await piece(0, half), await piece(half, 1024)].map((part) => (part.kind === 'piece' ? [...part.bytes] : []));
    expect(parts.flat()).toEqual([...whole.bytes]);
    expect(await piece(whole.totalBytes + 10, 10)).toMatchObject({ kind: 'piece', bytes: { length: 0 } });
  });

  test('P3.1 the probe’s clock offset and credential life are those of the cluster', async () => {
    const { session, probe, harness } = bench();
    const before = harness.now();
    const clusterNow = (await session.clock())!;
    // However long the answer took: read some time between question and answer.
    expect(clusterNow - probe.facts.clockOffsetMs).toBeGreaterThan(before - 5000);
    expect(clusterNow - probe.facts.clockOffsetMs).toBeLessThan(harness.now() + 5000);
    // Where a name can be created once only, nothing outstanding has to be waited for.
    expect(probe.facts.credentialLifeSeconds > 0).toBe(facts.supports.has('landing_bound'));
  });

  test.each(['never', 'scheduler', 'supervisor'] as const)(
    'contract §6 the rendering (requeue %s) shows the gate that will be used',
    (requeue) => {
      const { session, harness, probe } = bench();
      const spec = harness.makeSpec('quick');
      const options = { requeue, patienceSeconds: 3600 };
      const rendering = harness.adapter.render(spec, probe, options);
      const gate = session.gateFor(spec, probe, options, 1_000_000);
      expect(rendering.gate).toMatchObject({ mechanism: gate.mechanism, selfDestructs: gate.selfDestructs });
      expect(rendering.gate.says).not.toBe('');
      expect(rendering.text).toContain('{identity}');
      expect(rendering.refusals).toEqual([]);
      if (gate.selfDestructs) expect(gate.clusterExpiresAt).toBeGreaterThan(1_000_000);
    },
  );

  if (facts.supports.has('excludes_nodes'))
    test('contract §5 an excluded node is not used', async () => {
      const { harness, launch, release, ended } = bench();
      const attempt = await launch();
      await release(attempt);
      await ended(attempt, harness.limits.startSeconds + harness.limits.endSeconds);
      const used = await harness.nodeOf(attempt);
      const other = await launch({ job: attempt.job, n: 2, excludeNodes: [used] });
      await release(other);
      await ended(other, harness.limits.startSeconds + harness.limits.endSeconds);
      expect(await harness.nodeOf(other)).not.toBe(used);
    });
};

const isShown = (facts: Parameters<Cases>[0], name: CapabilityName): boolean => {
  const [support, cause] = [SHOWN_BY_SUPPORT[name], SHOWN_BY_CAUSE[name]];
  return (
    SHOWN_ALWAYS.includes(name) ||
    (support !== undefined && facts.supports.has(support)) ||
    (cause !== undefined && facts.causes.includes(cause)) ||
    facts.unexercised[name] !== undefined
  );
};
