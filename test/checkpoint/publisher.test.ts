import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { formatMarker, parseMarker } from '../../lib/checkpoint/marker.ts';
import { PUBLISHER_EXIT, publisherText } from '../../lib/checkpoint/publisher.ts';
import { link, type Run, runIn, type Shell, shells } from './publisher-rig.ts';

const open: Run[] = [];
const given = (shell: Shell, over?: Parameters<typeof runIn>[1]): Run => {
  const run = runIn(shell, over);
  open.push(run);
  return run;
};
afterEach(() => {
  for (const run of open.splice(0)) run.remove();
});

const { published, exists, invalid, incomplete, late } = PUBLISHER_EXIT;
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
/** A whole torch-dcp save. */
const dcp = (run: Run, at = 's'): void => {
  run.put(`${at}/__0_0.distcp`, 'tensor');
  run.put(`${at}/.metadata`, 'pickle');
};

describe('P8.3 dispatch-publish is one whole file', () => {
  test('a copy that was cut anywhere runs nothing', async () => {
    const text = publisherText();
    const [dash] = shells();
    for (const share of [0.3, 0.6, 0.9, 0.999]) {
      const run = given(dash!);
      dcp(run);
      run.mark('dispatch-publish', text.slice(0, Math.floor(text.length * share)));
      expect((await run.publish(['1', 's'])).code).not.toBe(published);
      expect(run.markers()).toEqual([]);
    }
  });

  test('text that is not whole is refused before it is given to a node', () => {
    expect(() => publisherText(import.meta.dirname)).toThrow();
  });
});

describe.each(shells())('P8.3 dispatch-publish under $name', (shell) => {
  test('a complete save becomes one empty file with the name that marker.ts reads; a second call says already there', async () => {
    const run = given(shell, { n: 3, run: 2 });
    dcp(run, "step 7/ü'$x");
    const first = await run.publish(['--framework', 'torch-dcp', '007', "step 7/ü'$x/"]);
    expect(first).toMatchObject({ code: published, err: '' });
    const path = "exec/3-2/step 7/ü'$x";
    expect(run.markers()).toEqual([formatMarker({ epoch: 3_000_002, step: 7, path })]);
    expect(parseMarker(run.markers()[0]!)).toEqual({ epoch: 3_000_002, step: 7, path });
    expect(readFileSync(join(run.root, 'pub', run.markers()[0]!)).length).toBe(0);
    expect((await run.publish(['7', join(run.exec, "step 7/ü'$x")])).code).toBe(exists);
    expect(run.markers()).toHaveLength(1);
  });

  test('base32 is that of marker.ts for every length and for any bytes of UTF-8', async () => {
    const run = given(shell);
    const names = ['a', 'ab', 'abc', 'abcd', 'abcde', 'é', '漢字', '😀.ckpt', `x${'é'.repeat(58)}`, '~!@#%^&*(){}[]|;<>?`'];
    for (const name of names) {
      dcp(run, name);
      expect(await run.publish(['5', name])).toMatchObject({ code: published });
      expect(run.markers()).toContain(formatMarker({ epoch: 1_000_000, step: 5, path: `exec/1-0/${name}` }));
    }
    expect(run.markers()).toHaveLength(names.length);
  });

  test('130 bytes are the longest path, 131 are refused', async () => {
    const run = given(shell);
    const longest = 'x'.repeat(130 - 'exec/1-0/'.length);
    dcp(run, longest);
    dcp(run, `${longest}y`);
    expect((await run.publish(['1', longest])).code).toBe(published);
    expect(await run.publish(['1', `${longest}y`])).toMatchObject({ code: invalid, err: expect.stringContaining('131 bytes') });
  });

  test.each([
    ['no words', []],
    ['one word', ['1']],
    ['three words', ['1', 's', 't']],
    ['an unknown option', ['--force', '1', 's']],
    ['an option without a value', ['--framework']],
    ['an unknown framework', ['--framework', 'keras', '1', 's']],
    ['both ways to prove', ['--framework=orbax', '--manifest=m', '1', 's']],
    ['a step that is none', ['1e3', 's']],
    ['a negative step', ['--', '-1', 's']],
    ['an empty step', ['', 's']],
    ['a step of 16 digits', ['1234567890123456', 's']],
    ['a path that does not exist', ['1', 'absent']],
    ['the folder of the run itself', ['1', '.']],
    ['a folder above', ['1', '..']],
    ["another run's folder", ['1', '../1-1/s']],
    ['a way out and back', ['1', 's/../../../pub']],
    ['a link out of the folder', ['1', 'out']],
    ['a link to a file', ['1', 'filelink']],
    ['a control character', ['1', 'bad\nname']],
    ['a newline at the end', ['1', 'end\n']],
    ['a manifest that is not there', ['--manifest', 'absent', '1', 's']],
  ])('invalid: %s', async (_, words) => {
    const run = given(shell);
    for (const at of ['s', '../1-1/s', 'bad\nname', 'end\n']) dcp(run, at);
    run.put('file');
    link('../1-1/s', join(run.exec, 'out'));
    link('file', join(run.exec, 'filelink'));
    expect(await run.publish(words)).toMatchObject({ code: invalid, err: expect.stringMatching(/./) });
    expect(run.markers()).toEqual([]);
  });

  test('invalid: a path that is no UTF-8 would be read by nobody', async () => {
    const run = given(shell);
    // Such a name cannot be a word that we give: the shell on the way makes it.
    const found = await run.publish(['1', 'x'], {}, `set -- 1 "$(printf 'x\\377')"; mkdir "$2"; `);
    expect(found).toMatchObject({ code: invalid, err: expect.stringContaining('UTF-8') });
    expect(run.markers()).toEqual([]);
  });

  test.each([
    ['outside of a run', { DISPATCH_ATTEMPT: undefined, DISPATCH_EPOCH: undefined }],
    ['an epoch of another run', { DISPATCH_EPOCH: '1000001' }],
    ['an attempt that is none', { DISPATCH_ATTEMPT: 'x' }],
    ['no root', { DISPATCH_CHECKPOINT_ROOT: undefined }],
    ['a root that is not there', { DISPATCH_CHECKPOINT_ROOT: '/nonexistent' }],
    ['an object store', { DISPATCH_CHECKPOINT_ROOT: 's3://bucket/x' }],
    ['no folder of the run', { DISPATCH_EXEC_DIR: undefined }],
  ])('invalid: %s', async (_, over) => {
    const run = given(shell);
    dcp(run);
    expect((await run.publish(['1', 's'], over)).code).toBe(invalid);
    expect(run.markers()).toEqual([]);
  });

  describe('complete by its framework', () => {
    const index = (...shards: string[]): string =>
      JSON.stringify({
        metadata: { total_size: 1 },
        weight_map: Object.fromEntries(shards.map((shard, i) => [`layer.${i}.weight`, shard])),
      });
    const hash = sha256('abc');
    const pickle = Buffer.from('\x80\x04\x8c\x0c__0_0.distcp\x94\x8c\x0c__1_0.distcp\x94.', 'latin1');
    const rows: readonly [string, Readonly<Record<string, string | Buffer>>, readonly string[], number][] = [
      // torch-dcp
      ['torch-dcp', { 's/.metadata': 'm', 's/__0_0.distcp': 't' }, ['1', 's'], published],
      [
        'torch-dcp: every file that the metadata names',
        { 's/.metadata': pickle, 's/__0_0.distcp': 't', 's/__1_0.distcp': 't' },
        ['1', 's'],
        published,
      ],
      ['torch-dcp: a file that the metadata names is missing', { 's/.metadata': pickle, 's/__0_0.distcp': 't' }, ['1', 's'], incomplete],
      ['torch-dcp: not yet renamed', { 's/.metadata.tmp': 'm', 's/__0_0.distcp': 't' }, ['1', 's'], incomplete],
      ['torch-dcp: empty metadata', { 's/.metadata': '', 's/__0_0.distcp': 't' }, ['1', 's'], incomplete],
      ['torch-dcp: no tensors', { 's/.metadata': 'm' }, ['1', 's'], incomplete],
      // deepspeed
      ['deepspeed: the folder', { 's/latest': 'g5', 's/g5/mp_rank_00_model_states.pt': 'm' }, ['5', 's'], published],
      ['deepspeed: the tag', { 's/latest': 'g5', 's/g5/mp_rank_00_model_states.pt': 'm' }, ['5', 's/g5'], published],
      [
        'deepspeed: stage 3, all ranks',
        {
          's/latest': 'g5\n',
          's/g5/zero_pp_rank_0_mp_rank_00_model_states.pt': 'm',
          's/g5/zero_pp_rank_0_mp_rank_00_optim_states.pt': 'o',
          's/g5/bf16_zero_pp_rank_0_mp_rank_00_optim_states.pt': 'o',
          's/g5/bf16_zero_pp_rank_1_mp_rank_00_optim_states.pt': 'o',
        },
        ['5', 's'],
        published,
      ],
      [
        'deepspeed: a rank in the middle is missing',
        { 's/latest': 'g5', 's/g5/mp_rank_00_model_states.pt': 'm', 's/g5/zero_pp_rank_1_mp_rank_00_optim_states.pt': 'o' },
        ['5', 's'],
        incomplete,
      ],
      ['deepspeed: an empty part', { 's/latest': 'g5', 's/g5/mp_rank_00_model_states.pt': '' }, ['5', 's'], incomplete],
      ['deepspeed: latest names the one before', { 's/latest': 'g4', 's/g5/mp_rank_00_model_states.pt': 'm' }, ['5', 's/g5'], incomplete],
      ['deepspeed: no latest yet', { 's/g5/mp_rank_00_model_states.pt': 'm' }, ['5', 's/g5'], incomplete],
      ['deepspeed: latest leads away', { 's/latest': '../x', 's/g5/mp_rank_00_model_states.pt': 'm' }, ['5', 's'], incomplete],
      // megatron
      [
        'megatron: distributed',
        {
          's/latest_checkpointed_iteration.txt': '5',
          's/iter_0000005/metadata.json': '{"sharded_backend": "zarr"}',
          's/iter_0000005/common.pt': 'c',
        },
        ['5', 's'],
        published,
      ],
      [
        'megatron: distributed in the format of torch',
        {
          's/latest_checkpointed_iteration.txt': '5',
          's/iter_0000005/metadata.json': '{"sharded_backend": "torch_dist"}',
          's/iter_0000005/common.pt': 'c',
          's/iter_0000005/.metadata': 'm',
          's/iter_0000005/__0_0.distcp': 't',
        },
        ['5', 's/iter_0000005'],
        published,
      ],
      [
        'megatron: in the format of torch, without its metadata',
        {
          's/latest_checkpointed_iteration.txt': '5',
          's/iter_0000005/metadata.json': '{"sharded_backend": "torch_dist"}',
          's/iter_0000005/common.pt': 'c',
          's/iter_0000005/__0_0.distcp': 't',
        },
        ['5', 's'],
        incomplete,
      ],
      [
        'megatron: metadata.json not yet',
        { 's/latest_checkpointed_iteration.txt': '5', 's/iter_0000005/common.pt': 'c' },
        ['5', 's'],
        incomplete,
      ],
      [
        'megatron: the older format',
        { 's/latest_checkpointed_iteration.txt': '5\n', 's/iter_0000005/mp_rank_00/model_optim_rng.pt': 'm' },
        ['5', 's'],
        published,
      ],
      [
        'megatron: the older format, one rank missing',
        {
          's/latest_checkpointed_iteration.txt': '5',
          's/iter_0000005/mp_rank_00/model_optim_rng.pt': 'm',
          's/iter_0000005/mp_rank_01/other': 'm',
        },
        ['5', 's'],
        incomplete,
      ],
      [
        'megatron: the iteration before',
        { 's/latest_checkpointed_iteration.txt': '4', 's/iter_0000005/common.pt': 'c' },
        ['5', 's/iter_0000005'],
        incomplete,
      ],
      // huggingface
      ['huggingface', { 's/trainer_state.json': '{}\n', 's/model.safetensors': 'w' }, ['5', 's'], published],
      ['huggingface: an adapter', { 's/trainer_state.json': '{}', 's/adapter_model.safetensors': 'w' }, ['5', 's'], published],
      ['C053 huggingface: no trainer_state.json', { 's/model.safetensors': 'w' }, ['5', 's'], incomplete],
      [
        'huggingface: trainer_state.json cut short',
        { 's/trainer_state.json': '{"a": [1,', 's/model.safetensors': 'w' },
        ['5', 's'],
        incomplete,
      ],
      ['huggingface: no weights', { 's/trainer_state.json': '{}' }, ['5', 's'], incomplete],
      [
        'huggingface: every shard',
        {
          's/trainer_state.json': '{}',
          's/model.safetensors.index.json': index('a.safetensors', 'b.safetensors'),
          's/a.safetensors': 'w',
          's/b.safetensors': 'w',
        },
        ['5', 's'],
        published,
      ],
      [
        'huggingface: a shard is missing',
        { 's/trainer_state.json': '{}', 's/model.safetensors.index.json': index('a.safetensors', 'b.safetensors'), 's/a.safetensors': 'w' },
        ['5', 's'],
        incomplete,
      ],
      [
        'huggingface: a shard of the older format is empty',
        { 's/trainer_state.json': '{}', 's/pytorch_model.bin.index.json': index('p-1.bin'), 's/p-1.bin': '' },
        ['5', 's'],
        incomplete,
      ],
      [
        'huggingface: sharded state of FSDP without its metadata',
        { 's/trainer_state.json': '{}', 's/pytorch_model_fsdp_0/__0_0.distcp': 't' },
        ['5', 's'],
        incomplete,
      ],
      // orbax
      ['orbax', { 's/_CHECKPOINT_METADATA': '{}', 's/default/d/x': 'x' }, ['5', 's'], published],
      ['orbax: where renaming is not atomic', { 's/commit_success.txt': 'ok' }, ['5', 's'], published],
      [
        'orbax: the temporary folder',
        { 's.orbax-checkpoint-tmp-1/_CHECKPOINT_METADATA': '{}' },
        ['5', 's.orbax-checkpoint-tmp-1'],
        incomplete,
      ],
      [
        'orbax: an item still being written',
        { 's/_CHECKPOINT_METADATA': '{}', 's/default.orbax-checkpoint-tmp-1/x': 'x' },
        ['5', 's'],
        incomplete,
      ],
      ['orbax: asked for, and it is another', { 's/model.safetensors': 'w' }, ['--framework', 'orbax', '5', 's'], incomplete],
      // a manifest
      [
        'manifest: hashes',
        { m: `${hash}  a\n${hash} *sub/b c\n`, 's/a': 'abc', 's/sub/b c': 'abc' },
        ['--manifest', 'm', '5', 's'],
        published,
      ],
      ['manifest: bytes', { m: '3  ./a\n0  b\n', 's/a': 'abc', 's/b': '' }, ['--manifest', 'm', '5', 's'], published],
      ['manifest: a single file', { m: `${hash}  model.pt\n`, 'model.pt': 'abc' }, ['--manifest', 'm', '5', 'model.pt'], published],
      ['manifest: within the save', { 's/m': '3  a\n', 's/a': 'abc' }, ['--manifest', 's/m', '5', 's'], published],
      ['manifest: another hash', { m: `${hash}  a\n`, 's/a': 'abd' }, ['--manifest', 'm', '5', 's'], incomplete],
      ['manifest: other bytes', { m: '3  a\n', 's/a': 'abcd' }, ['--manifest', 'm', '5', 's'], incomplete],
      ['manifest: a missing file', { m: '3  a\n3  b\n', 's/a': 'abc' }, ['--manifest', 'm', '5', 's'], incomplete],
      ['manifest: cut short', { m: '3  a', 's/a': 'abc' }, ['--manifest', 'm', '5', 's'], incomplete],
      ['manifest: empty', { m: '', 's/a': 'abc' }, ['--manifest', 'm', '5', 's'], incomplete],
      ['manifest: not of its form', { m: 'a 3\n', 's/a': 'abc' }, ['--manifest', 'm', '5', 's'], incomplete],
      ['manifest: a path that leads away', { m: '3  ../a\n', a: 'abc', 's/b': 'x' }, ['--manifest', 'm', '5', 's'], incomplete],
      ['manifest: an absolute path', { m: '3  /etc/hostname\n', 's/b': 'x' }, ['--manifest', 'm', '5', 's'], incomplete],
      ['manifest: of another file', { m: '3  other\n', other: 'abc', 'model.pt': 'abc' }, ['--manifest', 'm', '5', 'model.pt'], incomplete],
      // nothing that tells
      ['a single file alone', { 'model.pt': 'abc' }, ['5', 'model.pt'], incomplete],
      ['files that nobody knows', { 's/weights': 'abc' }, ['5', 's'], incomplete],
    ];

    test.each([
      ['orbax', [], incomplete, 'not published: '],
      ['torch-dcp', [], published, ''],
      ['manifest', [], invalid, 'checkpoint.completionMarker'],
      ['manifest', ['--framework', 'torch-dcp'], published, ''],
      ['orbax', ['--manifest', 'm'], published, ''],
      ['keras', [], invalid, 'keras is none of'],
    ])('the job says %s, the call %j: the call has the last word', async (says, words, code, err) => {
      const run = given(shell);
      dcp(run);
      run.put('m', '1  .metadata\n');
      run.put('s/.metadata', 'm');
      const answer = await run.publish([...words, '1', 's'], { DISPATCH_COMPLETION_MARKER: says });
      expect(answer, answer.err).toMatchObject({ code, err: expect.stringContaining(err) });
      expect(run.markers()).toHaveLength(code === published ? 1 : 0);
    });

    test.each(rows)('%s', async (_, files, words, code) => {
      const run = given(shell);
      for (const [path, text] of Object.entries(files)) run.put(path, text);
      const answer = await run.publish(words);
      expect(answer, answer.err).toMatchObject({
        code,
        err: code === published ? '' : expect.stringMatching(/^dispatch-publish: not published: /),
      });
      expect(run.markers()).toHaveLength(code === published ? 1 : 0);
    });
  });

  describe('late', () => {
    test.each([
      ['a release mark of a later attempt', 'release/3', late],
      ['a much later one, whose number sorts first', 'release/10', late],
      ['stop', 'stop', late],
      ['a claim of a later run', 'claims/2-2', late],
      ['its own mark', 'release/2', published],
      ['the mark before', 'release/1', published],
      ['its own claim', 'claims/2-1', published],
      ["another attempt's claim", 'claims/1-9', published],
      ['a file that is being written', 'release/.3', published],
    ])('%s', async (_, mark, code) => {
      const run = given(shell, { n: 2, run: 1 });
      dcp(run);
      run.mark(mark);
      const answer = await run.publish(['1', 's']);
      expect(answer, answer.err).toMatchObject({ code });
      expect(run.markers()).toHaveLength(code === published ? 1 : 0);
    });

    test('a claim is a link to nowhere, and counts', async () => {
      const run = given(shell);
      dcp(run);
      link('77-1-nonce', join(run.control, 'claims', '1-1'));
      expect((await run.publish(['1', 's'])).code).toBe(late);
    });

    test('a mark that comes while the save is made durable still counts', async () => {
      const run = given(shell);
      dcp(run);
      run.shadow('sync', `#!/bin/sh\n: > '${join(run.control, 'stop')}'\n`);
      expect((await run.publish(['1', 's'])).code).toBe(late);
      expect(run.markers()).toEqual([]);
    });

    test('where there is no control folder nothing is late by it', async () => {
      const run = given(shell);
      dcp(run);
      expect((await run.publish(['1', 's'], { DISPATCH_TOKEN_FILE: undefined })).code).toBe(published);
      unlinkSync(join(run.root, 'pub', run.markers()[0]!));
      expect((await run.publish(['1', 's'], { DISPATCH_TOKEN_FILE: '/nonexistent/token' })).code).toBe(published);
    });
  });

  describe('durable first', () => {
    test('a node whose sync takes no files writes everything', async () => {
      const run = given(shell);
      dcp(run);
      run.shadow('sync', `#!/bin/sh\necho "sync $#" >> '${join(run.control, 'calls')}'\n[ $# -eq 0 ]\n`);
      expect((await run.publish(['1', 's'])).code).toBe(published);
      expect(readFileSync(join(run.control, 'calls'), 'utf8')).toContain('sync 0');
    });

    test('files that the disk refuses are not announced', async () => {
      const run = given(shell);
      dcp(run);
      run.shadow('sync', '#!/bin/sh\nfor f; do case $f in *.distcp) exit 1 ;; esac; done\n');
      expect(await run.publish(['1', 's'])).toMatchObject({ code: incomplete, err: expect.stringContaining('stable storage') });
      expect(run.markers()).toEqual([]);
    });

    test('a pub/ that cannot be written is said, and nothing is announced', async () => {
      const run = given(shell);
      dcp(run);
      rmSync(join(run.root, 'pub'), { recursive: true });
      expect(await run.publish(['1', 's'])).toMatchObject({ code: incomplete, err: expect.stringContaining('marker could not be made') });
    });

    test('temporary files are removed', async () => {
      const run = given(shell);
      dcp(run);
      const folder = join(run.control, 'tmp');
      mkdirSync(folder);
      await run.publish(['1', 's'], { TMPDIR: folder });
      await run.publish(['2', 'absent'], { TMPDIR: folder });
      expect(readdirSync(folder)).toEqual([]);
    });
  });
});
