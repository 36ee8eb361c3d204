/** Upgrade and rollback, as far as templates go: what a release changes, and what no release may. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bundleFunction } from '../../infra/bundle.ts';
import { advance, MACHINE } from '../../lib/app/advance.ts';
import { SCHEMA } from '../../lib/job/event.ts';
import { life, START_MS } from '../contract/core/life.ts';
import { deploymentOf, example, least, type Raw, synthesise, synthesiseAnew } from './world.ts';

const bytes = (raw: Raw): string => {
  const { state, app } = synthesiseAnew(raw);
  return JSON.stringify([state.template.toJSON(), app.template.toJSON()]);
};

describe('a deploy of the same commit changes nothing', () => {
  it('the same file gives the same templates, to the byte', () => {
    expect(bytes(example())).toBe(bytes(example()));
  });

  it('so does the same file in another order', () => {
    const turned = (value: unknown): unknown =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(
            Object.entries(value)
              .reverse()
              .map(([key, one]) => [key, turned(one)]),
          )
        : value;
    const { clusters, secrets, ...rest } = example();
    const raw = { secrets: turned(secrets), clusters: (clusters as unknown[]).map(turned), ...rest };
    expect(deploymentOf(raw).clustersText).toBe(deploymentOf(example()).clustersText);
    expect(bytes(raw)).toBe(bytes(example()));
  });

  it('the same sources give the same code, wherever they are bundled to', () => {
    const bundled = (): Record<string, string> => {
      const folder = mkdtempSync(join(tmpdir(), 'dispatch-bundle-'));
      try {
        bundleFunction('park', folder, '{}');
        return Object.fromEntries(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
      } finally {
        rmSync(folder, { recursive: true });
      }
    };
    const first = bundled();
    expect(bundled()).toEqual(first);
    // Nothing of the machine that it was made on.
    expect(first).toHaveProperty(['index.mjs']);
    expect(Object.values(first).filter((text) => text.includes(process.cwd()))).toEqual([]);
  });
});

describe('what every release keeps', () => {
  /**
   * CloudFormation replaces what changes its logical id. These hold what is not made again by a deploy, or are known to others by name:
   * a release that renames one needs a way for those that have it, and a line here.
   */
  const KEPT: Readonly<Record<string, string>> = {
    RecordTableDC0C661A: 'AWS::DynamoDB::GlobalTable',
    DispatchMachineC6572FB0: 'AWS::StepFunctions::StateMachine',
    DispatchBus7408849B: 'AWS::Events::EventBus',
    DispatchApiHttpD53EE0DC: 'AWS::ApiGatewayV2::Api',
    DispatchSchedulesGroupF5FD1604: 'AWS::Scheduler::ScheduleGroup',
    DispatchTopicsopsD709695E: 'AWS::SNS::Topic',
    DispatchDeadLettersD12FCEF4: 'AWS::SQS::Queue',
    DispatchUndeliveredNotices0B71C55A: 'AWS::SQS::Queue',
  };

  it('logical ids of what holds something, and of what others know', () => {
    const { state, app } = synthesise(least({ alarms: { sns: 'ops' } }));
    const types =
      /^AWS::(DynamoDB::GlobalTable|StepFunctions::StateMachine|Events::EventBus|ApiGatewayV2::Api|SNS::Topic|SQS::Queue|Scheduler::ScheduleGroup)$/;
    const kept = [...Object.entries(state.resources), ...Object.entries(app.resources)].filter(([, one]) => types.test(one.Type));
    expect(Object.fromEntries(kept.map(([id, one]) => [id, one.Type]))).toEqual(KEPT);
  });

  it('the names by which others know it', () => {
    const { app } = synthesise(least());
    const named = (type: string, key: string) => app.of(type).map(([, one]) => one.Properties[key]);
    expect(named('AWS::StepFunctions::StateMachine', 'StateMachineName')).toEqual(['dispatch-k7m2-supervisor']);
    expect(named('AWS::Events::EventBus', 'Name')).toEqual(['dispatch-k7m2']);
    expect(named('AWS::Scheduler::ScheduleGroup', 'Name')).toEqual(['dispatch-k7m2']);
    expect(named('AWS::CloudWatch::Dashboard', 'DashboardName')).toEqual(['dispatch-k7m2']);
  });
});

describe('P2.9: handlers know the machine of their own release and of the one before', () => {
  const startedAt = new Date(START_MS).toISOString();
  const waiting = async () => {
    const one = await life({ script: [{ program: { runsSeconds: 3000 } }] });
    await one.until(({ attempt }) => attempt?.state === 'running');
    const ask = (machine: number) => advance(one.ports(), { machine, job: one.job(), generation: 1, loops: 0, startedAt, answer: {} });
    return { one, ask };
  };

  it('its own waits, the one before moves over at its next wake, and neither loses anything', async () => {
    const { one, ask } = await waiting();
    const before = one.commits();
    expect((await ask(MACHINE)).next).toBe('await');
    expect((await ask(MACHINE - 1)).next).toBe('continue_as_new');
    expect(one.commits()).toEqual(before);
    expect((await one.ended()).state).toBe('succeeded');
  });

  it('a record of a newer schema is refused, and nothing is changed', async () => {
    const { one, ask } = await waiting();
    const last = one.commits().at(-1)!;
    const newer = { ...last, version: last.version + 1, commitId: 'newer', schema: SCHEMA + 1 };
    expect(await one.store.append(newer)).toBe('appended');
    await expect(ask(MACHINE)).rejects.toMatchObject({ code: 'record/newer_schema', retryable: true });
    expect((await one.store.read(one.job())).at(-1)).toEqual(newer);
    expect(await one.store.readHead(one.job())).toMatchObject({ version: last.version });
  });
});

describe('rollback', () => {
  const before = least();
  const after = least({ tracing: true, logDays: 7, network: { natGateways: 1 }, notify: [{ on: 'dispatch.attempt.ended', sns: 'ends' }] });

  it('there and back is where it began, and neither way touches the state stack', () => {
    const there = synthesiseAnew(after);
    const back = synthesiseAnew(before);
    expect(bytes(before)).toBe(JSON.stringify([back.state.template.toJSON(), back.app.template.toJSON()]));
    expect(JSON.stringify(there.state.template.toJSON())).toBe(JSON.stringify(back.state.template.toJSON()));
    expect(JSON.stringify(there.app.template.toJSON())).not.toBe(JSON.stringify(back.app.template.toJSON()));
  });

  it('every resource of the app that is in both is updated, not replaced: neither its type nor its name differs', () => {
    const [one, other] = [synthesise(before).app.resources, synthesise(after).app.resources];
    for (const [id, resource] of Object.entries(one)) {
      const later = other[id];
      if (!later) continue;
      expect(later.Type).toBe(resource.Type);
      for (const name of ['Name', 'StateMachineName', 'EventBusName', 'FunctionName', 'GroupName', 'LogGroupName', 'DashboardName'])
        expect(JSON.stringify(later.Properties[name]), `${id}.${name}`).toBe(JSON.stringify(resource.Properties[name]));
    }
  });

  it('nothing in the app outlives it but what the account bills nothing for', () => {
    const { app } = synthesise(after);
    expect(
      Object.entries(app.resources)
        .filter(([, one]) => /Retain/.test(one.DeletionPolicy ?? ''))
        .map(([id]) => id),
    ).toEqual([]);
  });
});
