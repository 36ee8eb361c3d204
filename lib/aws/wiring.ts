/**
 * Wiring: everything that a deployed function works with, made from its environment once per process (environment.ts: the only list of
 * what it may read). Guards least privilege and the cold start alike: what a function was not told of it cannot touch, and a client of a
 * service is loaded when it is first needed.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Bus, ClusterConfiguration, Ports, Supervisors } from '../app/ports.ts';
import { probes } from '../app/probes.ts';
import type { TokenKeys } from '../checkpoint/token.ts';
import { type Configuration, readConfiguration } from '../cluster/configuration.ts';
import { openCluster, secretNames } from '../cluster/open.ts';
import { boundedSecrets, SecretFailure, type SecretSource } from '../cluster/secret.ts';
import { AssertionFailed } from '../job/assertion.ts';
import { clientLimits, createDynamoStore } from '../record/dynamodb-store.ts';
import type { BusEvent, EventBridge } from './bus.ts';
import type { FunctionName } from './doors.ts';
import { type Environment, readEnvironment, type Variable } from './environment.ts';
import { lazily } from './lazily.ts';
import { createLog, type Log } from './log.ts';
import { serviceOf } from './metric-names.ts';
import { createMeter, type Meter } from './metrics.ts';
import type { ReadSecret } from './secrets.ts';

export interface Deployed {
  readonly environment: Environment;
  readonly ports: Ports;
  readonly log: Log;
  readonly meter: Meter;
  /** Undefined in a function that was told of none. Throws SecretFailure. */
  readonly tokenKeys: () => Promise<TokenKeys | undefined>;
  /** Beside the notices of records: what one function asks of another. Throws BusFailure. */
  readonly putEvents: (events: readonly BusEvent[]) => Promise<void>;
}

const processes = new Map<FunctionName, () => Promise<Deployed>>();

/** Once per process and function. */
export const deployedAs = (name: FunctionName): Promise<Deployed> => {
  const known = processes.get(name) ?? lazily(() => fromEnvironment(name, process.env));
  processes.set(name, known);
  return known();
};

/** Throws an Error that names what the deployment lacks. */
export const fromEnvironment = async (name: FunctionName, variables: NodeJS.ProcessEnv): Promise<Deployed> => {
  const environment = readEnvironment(name, variables);
  const tag = need(environment, 'DISPATCH_TAG');
  const log = createLog(serviceOf(tag), environment.DISPATCH_LOG_LEVEL as 'INFO' | undefined);
  const meter = createMeter(serviceOf(tag));
  const around = { environment, log, meter };
  const read = readConfiguration(await readFile(need(environment, 'DISPATCH_CONFIG'), 'utf8'));
  if (!read.ok) throw new Error(`DISPATCH_CONFIG: ${read.says}`);
  const secret = lazily(() => secretsOf(around));
  const tokenKeys = tokenKeysIn(around, secret);
  const bridge = lazily(() => bridgeOf(around));
  const ports: Ports = {
    store: createDynamoStore({ client: new DynamoDBClient(clientLimits), table: need(environment, 'DISPATCH_TABLE') }),
    supervisors: supervisorsOf(around),
    bus: busOf(bridge),
    clusters: await clustersOf(read.configuration, { tag, secret, tokenKeys }),
    secrets: secretNames(read.configuration.secrets),
    probeOf: probes(() => ports),
    tag,
    now: Date.now,
    random: Math.random,
    sleep: (ms) => delay(ms),
    log: log.log,
  };
  const putEvents = async (events: readonly BusEvent[]): Promise<void> => {
    const [{ putEvents: put }, to] = await Promise.all([import('./bus.ts'), bridge()]);
    await put(to, events);
  };
  return { environment, ports, log, meter, tokenKeys, putEvents };
};

type Around = Pick<Deployed, 'environment' | 'log' | 'meter'>;

const need = (environment: Environment, name: Variable): string => {
  const value = environment[name];
  // Not an outage: this function was never meant to do what it is about to do.
  if (value === undefined) throw new AssertionFailed(`this function is not told of ${name}`);
  return value;
};

const supervisorsOf = ({ environment, log, meter }: Around): Supervisors => {
  const made = lazily(async (): Promise<Supervisors> => {
    const machineArn = need(environment, 'DISPATCH_MACHINE_ARN');
    const { sfnClient, stepFunctionsSupervisors } = await import('./supervisors.ts');
    return stepFunctionsSupervisors({
      client: sfnClient(),
      machineArn,
      onInvalidToken: (says) => {
        meter.add('TokensInvalid', 1);
        log.log('error', 'a stored task token is not one', { says });
      },
      onSignal: (how) => meter.add(how === 'signalled' ? 'SignalsSent' : how === 'superseded' ? 'SignalsSuperseded' : 'SignalsFailed', 1),
    });
  });
  return {
    start: async (job, generation) => (await made()).start(job, generation),
    signal: async (token) => (await made()).signal(token),
  };
};

const bridgeOf = async ({ environment, log, meter }: Around): Promise<EventBridge> => {
  const { eventBridgeClient } = await import('./bus.ts');
  return {
    client: eventBridgeClient(),
    bus: need(environment, 'DISPATCH_BUS'),
    log: log.log,
    onFailed: () => meter.add('NoticesFailed', 1),
  };
};

const busOf = (bridge: () => Promise<EventBridge>): Bus => ({
  put: async (notices) => {
    const [{ eventBridgeBus }, to] = await Promise.all([import('./bus.ts'), bridge()]);
    await eventBridgeBus(to).put(notices);
  },
});

const secretsOf = async ({ meter }: Around): Promise<{ readonly kept: ReadSecret; readonly plain: ReadSecret }> => {
  const { keptSecrets, secretsClient, secretsManager } = await import('./secrets.ts');
  const plain = secretsManager({ client: secretsClient(), onFailed: () => meter.add('SecretsUnreadable', 1) });
  return { plain, kept: keptSecrets(plain, Date.now) };
};
type Secrets = () => ReturnType<typeof secretsOf>;

const tokenKeysIn =
  ({ environment }: Around, secrets: Secrets): Deployed['tokenKeys'] =>
  async () => {
    const name = environment.DISPATCH_TOKEN_KEYS;
    if (name === undefined) return undefined;
    const [{ tokenKeysOf }, { kept }] = await Promise.all([import('./token-keys.ts'), secrets()]);
    return tokenKeysOf(await kept(name));
  };

interface Opens {
  readonly tag: string;
  readonly secret: Secrets;
  readonly tokenKeys: Deployed['tokenKeys'];
}

const clustersOf = async (
  { clusters, secrets }: Configuration,
  { tag, secret, tokenKeys }: Opens,
): Promise<ReadonlyMap<string, ClusterConfiguration>> => {
  const assuming = lazily(async () => ({ client: (await import('./roles.ts')).stsClient(), session: serviceOf(tag) }));
  const opening = {
    tag,
    now: Date.now,
    random: Math.random,
    secret: async (name: string, fresh?: boolean) => (await secret()).kept(name, fresh),
    programSecret: programSecrets(secrets, secret),
    credentialsOf: (role: string) => async () => {
      const { assumedRole } = await import('./roles.ts');
      return assumedRole(await assuming(), role)();
    },
    tokenOf: async (job: string, n: number): Promise<string> => {
      const [{ issueToken }, keys] = await Promise.all([import('../checkpoint/token.ts'), tokenKeys()]);
      if (!keys) throw new AssertionFailed('this function launches attempts and is not told of DISPATCH_TOKEN_KEYS');
      return issueToken(keys, job, n);
    },
  };
  const opened = await Promise.all(clusters.map((entry) => openCluster(entry, opening)));
  return new Map(opened.map((cluster) => [cluster.id, cluster]));
};

/** By the configuration's names; what it names is in Secrets Manager, since a function has no files of its own. */
const programSecrets = (entries: Configuration['secrets'], secret: Secrets): SecretSource =>
  boundedSecrets(
    async (ref) => {
      const id = entries[ref]?.secretId;
      if (id === undefined) throw new SecretFailure('secret/unknown', `the configuration gives secret ${ref} no secretId`);
      return (await secret()).plain(id);
    },
    Object.keys(entries),
    { now: Date.now },
  );
