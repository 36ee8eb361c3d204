/**
 * Address: where the API of a local process listens, and who may speak to it. On loopback everybody on this machine is the owner, so
 * what a browser is made to send from elsewhere has to be told apart; anywhere else a bearer token says who the owner is.
 * Guards: nothing that is reachable from another machine is ever answered without the token.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { StartRefused, saysOf } from './refusal.ts';

export interface Caller {
  readonly host: string;
  readonly origin: string | undefined;
  readonly authorization: string | undefined;
}
/** What a caller lacks; undefined: admitted. */
export type Admission = (caller: Caller) => 'host' | 'origin' | 'token' | undefined;

/** 127.0.0.0/8 never leaves a machine, nor does ::1. `localhost` is what the system says it is, which is one of these. */
export const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);

/** Throws StartRefused for what is no address: a name could be bent to another one later. */
export const checkHost = (host: string): void => {
  if (host !== 'localhost' && isIP(host) === 0)
    throw new StartRefused(`--host ${host}: must be an IP address of this machine, or 'localhost'`);
};

const TOKEN = /^[\x21-\x7e]{16,512}$/;

/** The token that the file holds. Throws StartRefused for one that others may read, or that is too short to be a secret. */
export const readTokenFile = async (path: string): Promise<string> => {
  try {
    const { mode } = await stat(path);
    if ((mode & 0o077) !== 0) throw new StartRefused(`--token-file ${path}: others may read it: chmod 600 ${path}`);
    const token = (await readFile(path, 'utf8')).trim();
    if (!TOKEN.test(token)) throw new StartRefused(`--token-file ${path}: must hold 16 to 512 characters without spaces`);
    return token;
  } catch (error) {
    if (error instanceof StartRefused) throw error;
    throw new StartRefused(`--token-file ${path}: cannot be read (${saysOf(error)})`);
  }
};

/** Names that mean this machine. A page whose own name was bent to it says its own name (DNS rebinding). */
const LOCAL_HOST = /^(127(\.\d{1,3}){3}|localhost|\[::1\])(:\d+)?$/i;
const LOCAL_ORIGIN = /^https?:\/\/(127(\.\d{1,3}){3}|localhost|\[::1\])(:\d+)?$/i;

/** With a token it decides alone: no browser sends it by itself. Without one, only what names this machine is let in. */
export const admission = (token: string | undefined): Admission => {
  if (token !== undefined) {
    const right = sha256(token);
    return ({ authorization }) => {
      const given = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
      // Equal lengths whatever was given, and a comparison that takes the same time wherever it differs.
      return given !== undefined && timingSafeEqual(sha256(given), right) ? undefined : 'token';
    };
  }
  return ({ host, origin }) => {
    if (!LOCAL_HOST.test(host)) return 'host';
    return origin === undefined || LOCAL_ORIGIN.test(origin) ? undefined : 'origin';
  };
};

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
