/** dynalite comes without types; this is what the tests and the local mode use of it. */
declare module 'dynalite' {
  import type { Server } from 'node:http';

  interface Options {
    /** How long a new table stays CREATING, in milliseconds. */
    readonly createTableMs?: number;
    readonly deleteTableMs?: number;
    readonly updateTableMs?: number;
    /** A folder; in memory without one. */
    readonly path?: string;
  }
  export default function dynalite(options?: Options): Server;
}
