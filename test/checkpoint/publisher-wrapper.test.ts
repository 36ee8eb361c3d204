import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { readMarkers } from '../../lib/checkpoint/layout.ts';
import { publisherFile } from '../../lib/checkpoint/publisher.ts';
import { quote } from '../../lib/cluster/slurm/transport/quote.ts';
import { type Place, place, run } from '../cluster/slurm/wrapper-rig.ts';

let at: Place;
afterEach(() => at.remove());

/** What a submission does with an adapter's `helpers`. */
const withPublisher = (): Place => {
  at = place();
  const { name, text } = publisherFile();
  writeFileSync(join(at.control, 'bin', name), text);
  chmodSync(join(at.control, 'bin', name), 0o700);
  writeFileSync(join(at.control, 'token'), '');
  at.release(1, 7);
  return at;
};

const PROGRAM = `step=$((\${DISPATCH_RESUME_STEP:-0} + 10))
echo "from \${DISPATCH_RESUME_FROM:-nothing}"
mkdir -p "$DISPATCH_EXEC_DIR/s" && cd "$DISPATCH_EXEC_DIR/s" && echo tensor > model.pt && sha256sum model.pt > MANIFEST
DISPATCH_API_URL= dispatch-publish --manifest MANIFEST "$step" .
`;

describe('P8 the wrapper and dispatch-publish', () => {
  test('P8.2 a requeued run resumes from what the run before it announced', async () => {
    const { script, facts, list, file } = withPublisher();
    const program = script(PROGRAM);
    expect((await run('dash', at, facts({ program }))).code).toBe(0);
    expect((await run('dash', at, facts({ program }), 7, 1)).code).toBe(0);
    expect(file('control/output/1-0.out')).toBe('from nothing\npublished step 10: exec/1-0/s\n');
    expect(file('control/output/1-1.out')).toBe(`from ${at.checkpoints}/exec/1-0/s\npublished step 20: exec/1-1/s\n`);
    expect(readMarkers(list('ck pt/pub'))).toEqual({
      publications: [
        { epoch: 1_000_000, step: 10, path: 'exec/1-0/s' },
        { epoch: 1_000_001, step: 20, path: 'exec/1-1/s' },
      ],
      strays: 0,
    });
  });

  test('P6.3 a run that was overtaken while it saved is told that it is late', async () => {
    const { script, facts, list } = withPublisher();
    // Nothing here ends the program sooner than it can ask.
    const program = script(`: > ${quote(`${at.control}/release/2`)}\n${PROGRAM}echo "said $?" >&2\nexit 0\n`);
    const ended = await run(
      'dash',
      at,
      facts({ program, timing: { lateViewSeconds: 1, lookAgainSeconds: 1, watchSeconds: 60, graceSeconds: 1 } }),
    );
    expect(ended.code).toBe(0);
    expect(at.file('control/output/1-0.err')).toContain('late: attempt 2 has a release mark');
    expect(at.file('control/output/1-0.err')).toContain('said 4');
    expect(list('ck pt/pub')).toEqual([]);
  });
});
