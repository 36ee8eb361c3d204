/**
 * Wiring: the ports of a deployed function, made from its environment once per process. The only reader of the environment.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { ClusterConfiguration, Ports } from '../app/ports.ts';
import { probes } from '../app/probes.ts';
import { readConfiguration } from '../cluster/configuration.ts';
import { openCluster } from '../cluster/open.ts';
import { TAG } from '../job/identity.ts';
import { clientLimits, createDynamoStore } from '../record/dynamodb-store.ts';
import { sfnClient, stepFunctionsSupervisors } from './supervisors.ts';

let made: Promise<Ports> | undefined;

export const wired = (): Promise<Ports> => {
  made ??= fromEnvironment(process.env);
  return made;
};

const need = (environment: NodeJS.ProcessEnv, name: string): string => {
  const value = environment[name];
  if (!value) throw new Error(`${name} is not set: the deployment gives it to every function`);
  return value;
};

export const logLine: Ports['log'] = (level, message, fields) => {
  console[level](JSON.stringify({ level, message, ...fields }));
};

export const fromEnvironment = async (environment: NodeJS.ProcessEnv): Promise<Ports> => {
  const tag = need(environment, 'DISPATCH_TAG');
  if (!TAG.test(tag)) throw new Error('DISPATCH_TAG must be 4 characters of lower-case base32');
  const read = readConfiguration(await readFile(need(environment, 'DISPATCH_CONFIG'), 'utf8'));
  if (!read.ok) throw new Error(`DISPATCH_CONFIG: ${read.says}`);
  const opening = { tag, now: Date.now, random: Math.random };
  const opened = await Promise.all(read.configuration.clusters.map((entry) => openCluster(entry, opening)));
  const clusters = new Map<string, ClusterConfiguration>(opened.map((cluster) => [cluster.id, cluster]));
  const ports: Ports = {
    store: createDynamoStore({ client: new DynamoDBClient(clientLimits), table: need(environment, 'DISPATCH_TABLE') }),
    supervisors: stepFunctionsSupervisors({
      client: sfnClient(),
      machineArn: need(environment, 'DISPATCH_MACHINE_ARN'),
      onInvalidToken: (says) => logLine('error', 'a stored task token is not one', { says }),
    }),
    clusters,
    probeOf: probes(() => ports),
    tag,
    now: Date.now,
    random: Math.random,
    sleep: (ms) => delay(ms),
    log: logLine,
  };
  return ports;
};
