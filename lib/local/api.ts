/** The API of a local process: the routes of a deployment, for one owner who may do everything, and the log of notices beside them. */
import { Hono } from 'hono';
import { createApi } from '../api/api.ts';
import type { Ports } from '../app/ports.ts';
import { type Principal, SCOPES } from '../app/principal.ts';
import type { TokenKeys } from '../checkpoint/token.ts';
import type { NoticeLog } from './notice-log.ts';
import { noticesRoute } from './notices-route.ts';

/** Whoever is admitted (address.ts) is this one. */
export const OWNER: Principal = { id: 'local', groups: [], scopes: SCOPES };

export interface LocalApi {
  readonly ports: Ports;
  readonly notices: NoticeLog;
  /** Of the attempts' tokens. */
  readonly tokenKeys: TokenKeys;
}

export const localApi = ({ ports, notices, tokenKeys }: LocalApi): Hono => {
  const app = new Hono();
  app.route('/', noticesRoute(notices));
  app.mount(
    '/',
    createApi({
      ports: async () => ports,
      principalOf: () => OWNER,
      tokenKeys: async () => tokenKeys,
      document: async () => {
        document ??= import('../api/document.ts').then(({ makeDocument }) => makeDocument());
        return document;
      },
    }).fetch,
  );
  return app;
};

/** Made at the first question: its generator is a tenth of a second of loading. */
let document: Promise<unknown> | undefined;
