/**
 * Secrets of a local process: one file per name of the configuration, read when a launch needs it, so that it can be replaced at any time.
 * Guards: a file that others may read is no secret and is not given to anybody as one; nothing but plain files within the bound is read.
 */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { SECRET_BYTES, SecretFailure, type SecretSource } from '../cluster/secret.ts';

/** `files`: by name, as the configuration gives them. The end of line that an editor leaves is no part of a value. */
export const secretFiles =
  (files: ReadonlyMap<string, string>): SecretSource =>
  async (ref) => {
    const path = files.get(ref);
    if (path === undefined) throw new SecretFailure('secret/unknown', 'the configuration names no such secret');
    // Without waiting for somebody to write, should it be a pipe.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const { mode, size } = await file.stat().then((stat) => (stat.isFile() ? stat : refuse(ref, 'is no plain file')));
      if ((mode & 0o077) !== 0) refuse(ref, 'is in a file that others may read: chmod 600');
      if (size > SECRET_BYTES + 2) refuse(ref, `has ${size} bytes; at most ${SECRET_BYTES} are allowed`);
      const bytes = Buffer.alloc(SECRET_BYTES + 3);
      const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
      return decode(ref, bytes.subarray(0, bytesRead)).replace(/\r?\n$/, '');
    } finally {
      await file.close();
    }
  };

const refuse = (ref: string, how: string): never => {
  throw new SecretFailure('secret/unusable', `secret ${ref} ${how}`);
};

const decode = (ref: string, bytes: Uint8Array): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return refuse(ref, 'is no text in UTF-8');
  }
};
