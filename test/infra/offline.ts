/** Offline: loaded before anything else in a process, it makes every connection and every look-up of a name an error. */
import dns from 'node:dns';
import net from 'node:net';

const refuse = (what: string) => (): never => {
  throw new Error(`offline: ${what} was attempted`);
};

net.Socket.prototype.connect = refuse('a connection') as never;
dns.lookup = refuse('a look-up') as never;
dns.promises.lookup = refuse('a look-up') as never;
