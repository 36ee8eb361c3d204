/** What a deployment measures, and what it rings for, as docs/operate.md prints it; and the numbers that docs/upgrade.md speaks of. */
import { type AlarmRow, alarmRows, type Measured } from '../../../infra/alarm-table.ts';
import { MACHINE } from '../../../lib/app/advance.ts';
import { METRICS, type Metric } from '../../../lib/aws/metric-names.ts';
import { CLUSTER_SCHEMA } from '../../../lib/job/cluster-event.ts';
import { SCHEMA } from '../../../lib/job/event.ts';
import { code, codes, duration, table } from './markdown.ts';

/** One cluster and login, of the example in docs/deploy.md, stand for all. */
const ROWS = alarmRows([{ cluster: 'hpc', login: 'research', minutes: 1 }], 4);

const measuredOf = (measured: Measured): string => {
  switch (measured.of) {
    case 'metric':
      return code(measured.name);
    case 'machine':
      return `${codes(measured.names)} of the machine`;
    case 'table':
      return `${codes(measured.names)} of the table`;
    case 'api':
      return `${codes(measured.names)} of the API`;
    case 'doors':
      return `${codes(measured.names)} of the functions behind the API`;
    case 'workers':
      return `${codes(measured.names)} of the other functions but \`reconcile\``;
    case 'queue':
      return `messages in the queue of ${measured.queue === 'ticks' ? 'dead letters' : 'undelivered notices'}`;
  }
};

const boundOf = ({ when, threshold, minutes, periods, measured }: AlarmRow): string => {
  const isTime = measured.of === 'metric' && METRICS[measured.name].unit === 'Seconds';
  const value = isTime ? duration(threshold) : String(threshold);
  const span = periods === 1 ? `${minutes} min` : `${periods} × ${minutes} min`;
  return when === 'less than' ? `none in ${span}` : `${value} or more in ${span}`;
};

export const alarms = (): string =>
  table(
    ['alarm', 'measures', 'rings at', 'says'],
    ROWS.map((row) => [`[${row.id}](runbook/${row.page}.md)`, measuredOf(row.measured), boundOf(row), row.says]),
  );

const sent = ({ always }: Metric): string => (always ? 'always' : 'above zero');

export const metrics = (): string =>
  table(
    ['metric', 'unit', 'read as', 'sent', 'by', 'says'],
    Object.entries<Metric>(METRICS).map(([name, metric]) => [
      code(name),
      metric.unit === 'Count' ? '' : metric.unit.toLowerCase(),
      metric.statistic === 'Sum' ? 'sum' : 'greatest',
      sent(metric),
      codes(metric.dimensions),
      metric.says,
    ]),
  );

export const numbers = (): string =>
  table(
    ['of', 'number'],
    [
      ['the state machine', String(MACHINE)],
      ['commits of jobs: schema', String(SCHEMA)],
      ['commits of clusters: schema', String(CLUSTER_SCHEMA)],
    ],
  );
