/** Contract §4: locally a secret is a file that its name stands for, and that nobody else may read. */
import { spawnSync } from 'node:child_process';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SECRET_BYTES } from '../../../lib/cluster/secret.ts';
import { secretFiles } from '../../../lib/local/secret-files.ts';
import { folderOf } from './folder.ts';

const given = async (text: string | Uint8Array, mode = 0o600) => {
  const folder = await folderOf();
  const path = join(folder, 'value');
  await writeFile(path, text);
  await chmod(path, mode);
  return { folder, path, read: secretFiles(new Map([['a', path]])) };
};

test('the value is the whole file but for the end of line that an editor leaves', async () => {
  for (const [text, value] of [
    ['hunter2\n', 'hunter2'],
    ['hunter2\r\n', 'hunter2'],
    [' two\nlines\n\n', ' two\nlines\n'],
    ['', ''],
    ["'$(id)`", "'$(id)`"],
  ] as const)
    expect(await (await given(text)).read('a')).toBe(value);
});

test('a file that was replaced is read anew', async () => {
  const { path, read } = await given('one');
  await read('a');
  await writeFile(path, 'two');
  expect(await read('a')).toBe('two');
});

test('only what the configuration names is opened', async () => {
  const { path, read } = await given('x');
  await expect(read(path)).rejects.toMatchObject({ code: 'secret/unknown' });
});

test.each([
  ['others may read it', 'x', 0o644],
  ['its group may read it', 'x', 0o640],
  ['it is too long', 'x'.repeat(SECRET_BYTES + 3), 0o600],
  ['it is no text', new Uint8Array([0xff, 0xfe, 0x80]), 0o600],
])('refused: %s', async (_, text, mode) => {
  const { path, read } = await given(text, mode);
  const error = await read('a').catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'secret/unusable' });
  // Where it is kept is nobody's business.
  expect(String(error)).not.toContain(path);
});

test('a folder or a pipe in its place is refused at once', async () => {
  const { folder } = await given('x');
  await mkdir(join(folder, 'folder'), { mode: 0o700 });
  expect(spawnSync('mkfifo', ['-m', '600', join(folder, 'pipe')]).status).toBe(0);
  await symlink(join(folder, 'pipe'), join(folder, 'link'));
  for (const name of ['folder', 'pipe', 'link'])
    await expect(secretFiles(new Map([['a', join(folder, name)]]))('a')).rejects.toMatchObject({ code: 'secret/unusable' });
});
