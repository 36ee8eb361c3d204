/** Dynalite in a process of its own: what the table costs is then neither the time nor the memory of what is measured. */
import type { AddressInfo } from 'node:net';
import dynalite from 'dynalite';

const server = dynalite({ createTableMs: 0, deleteTableMs: 0 });
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
// Whoever started it may die at any moment; a table without its reader must not stay.
process.once('disconnect', () => process.exit(0));
