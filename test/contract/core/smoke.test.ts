import { expect, test } from 'vitest';
import { life, relaunch, SHAPES } from './life.ts';
import { reads } from './reader.ts';

for (const shape of SHAPES)
test(`smoke ${shape}`, async () => {
  const t = performance.now();
  const one = await life({ shape, rules: [relaunch(['preempted'])], script: [
    { queueSeconds: 10, program: { runsSeconds: 60, publishes: [{ atSeconds: 20, step: 100 }], ends: 'preempted' } },
    { program: { runsSeconds: 30 } },
  ] });
  const s = await one.ended();
  for (const c of one.commits()) for (const e of c.events) console.log(c.version, (c.at - one.commits()[0]!.at)/1000, c.actor, JSON.stringify(e).slice(0, 180));
  console.log(JSON.stringify(s, null, 1));
  console.log(one.whys());
  for (const x of one.system().engine.listExecutions()) console.log(x.name, x.status, one.system().engine.history(x.name).filter(h => h.type.endsWith('StateEntered')).map(h => h.state).join(' '));
  reads(one);
  console.log(performance.now() - t, one.process().calls.length);
  expect(s.state).toBe('succeeded');
});
