import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { frame, frameReader } from '../../../../lib/cluster/slurm/transport/frame.ts';

const NONCE = '00112233445566778899aabbccddeeff';
const BEGIN = `dispatch-begin:${NONCE}\n`;
const end = (code: number): string => `dispatch-end:${NONCE} ${code}\n`;
const ROW = '700145|COMPLETED|0:0\n';

function read(text: string, maxBytes = 1000, cut = text.length) {
  const reader = frameReader(NONCE, maxBytes);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += cut) reader.push(bytes.subarray(at, at + cut));
  return { state: reader.state(), begun: reader.begun(), ...reader.read() };
}

const sh = (input: string, args: readonly string[] = []) =>
  spawnSync('/bin/sh', [...args, '-s'], { input, encoding: 'utf8', timeout: 10_000 });

describe('reading a frame', () => {
  test.each([
    { name: 'rows between marks', text: `${BEGIN}${ROW}${end(0)}`, body: ROW, exitCode: 0 },
    { name: 'C045 14 banner lines', text: `${'Welcome!\n'.repeat(14)}${BEGIN}${ROW}${end(0)}`, body: ROW, exitCode: 0 },
    { name: 'C045 a banner that looks like a row', text: `${ROW}${BEGIN}${end(0)}`, body: '', exitCode: 0 },
    { name: 'a banner without an end of line', text: `Hello${BEGIN}x${end(3)}`, body: 'x', exitCode: 3 },
    { name: 'marks of another number', text: `dispatch-begin:ff\n${ROW}dispatch-end:ff 0\n${BEGIN}y\n${end(1)}`, body: 'y\n', exitCode: 1 },
    { name: 'noise after the end', text: `${BEGIN}z${end(0)}${ROW}${end(9)}`, body: 'z', exitCode: 0 },
    { name: 'an end mark without its number inside', text: `${BEGIN}dispatch-end:\n${end(255)}`, body: 'dispatch-end:\n', exitCode: 255 },
  ])('$name, whole and byte by byte', ({ text, body, exitCode }) => {
    for (const cut of [text.length, 1, 7]) expect(read(text, 1000, cut)).toEqual({ state: 'whole', begun: true, body, exitCode });
  });

  test.each([
    { name: 'no mark at all', text: ROW, begun: false },
    { name: 'C049 half a row', text: `${BEGIN}700145|COMP`, begun: true },
    { name: 'C049 an end mark cut before its code', text: `${BEGIN}${ROW}dispatch-end:${NONCE} `, begun: true },
    { name: 'C049 a code that may go on', text: `${BEGIN}${ROW}dispatch-end:${NONCE} 1`, begun: true },
  ])('$name is not whole', ({ text, begun }) => expect(read(text)).toMatchObject({ state: 'open', begun, body: '' }));

  test('the byte limit counts what the program wrote, not the noise', () => {
    expect(read(`${'n'.repeat(5000)}${BEGIN}${'x'.repeat(100)}${end(0)}`, 100).state).toBe('whole');
    expect(read(`${BEGIN}${'x'.repeat(101)}${end(0)}`, 100).state).toBe('too_long');
    expect(read(`${BEGIN}${'x'.repeat(10_000)}`, 100, 64).state).toBe('too_long');
  });

  test('endless noise is given up', () => expect(read('n'.repeat(70_000), 1_000_000, 1000).state).toBe('too_long'));
});

describe('a framed program in a real sh', () => {
  test.each([
    { name: 'exit code', script: 'echo a; exit 7', body: 'a\n', exitCode: 7 },
    { name: 'no end of line', script: 'printf x', body: 'x', exitCode: 0 },
    { name: 'set -e', script: 'set -e; false; echo never', body: '', exitCode: 1 },
    { name: 'an exit trap', script: "trap 'echo bye' EXIT; exit 4", body: 'bye\n', exitCode: 4 },
    { name: 'a syntax error', script: 'if then', body: '', exitCode: 2 },
    { name: 'a trailing comment', script: 'echo a # done', body: 'a\n', exitCode: 0 },
    { name: 'a here-document', script: "cat <<'X'\nit's $HOME\nX\n", body: "it's $HOME\n", exitCode: 0 },
    { name: 'a command that reads stdin', script: 'cat; echo after', body: 'after\n', exitCode: 0 },
    { name: 'a killed shell', script: "sh -c 'kill -9 $$'", body: '', exitCode: 137 },
    { name: 'closed streams', script: 'exec >&- 2>&-', body: '', exitCode: 0 },
  ])('$name', ({ script, body, exitCode }) => {
    const { stdout } = sh(frame(script, NONCE));
    expect(read(stdout)).toMatchObject({ state: 'whole', body, exitCode });
  });

  test('a program cut short anywhere runs nothing', () => {
    const text = frame("echo it\\'s; echo 'ran'\n", NONCE);
    // All lengths in one sh: each prefix is read by a shell of its own.
    const loop = 'n=0; while [ $n -lt "$1" ]; do head -c "$n" "$0" | sh -s 2>&-; n=$((n + 1)); done';
    const whole = text.trimEnd().length;
    const { stdout, status } = spawnSync('/bin/sh', ['-c', `f=$(mktemp) && cat >"$f" && sh -c '${loop}' "$f" ${whole}; rm -f "$f"`], {
      input: text,
      encoding: 'utf8',
      timeout: 15_000,
    });
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
  });

  test('a shell that echoes its input (set -v, set -x) produces no false mark', () => {
    for (const option of ['-v', '-x']) {
      const { stdout, stderr } = sh(frame('echo out; echo err >&2', NONCE), [option]);
      expect(read(stdout)).toMatchObject({ state: 'whole', body: 'out\n' });
      expect(read(stderr)).toMatchObject({ state: 'whole' });
      expect(read(stderr).body).toMatch(/(^|\n)err\n/);
    }
  });
});
