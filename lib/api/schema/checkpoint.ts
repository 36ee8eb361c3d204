/** What routes about checkpoints take and answer with. */
import * as z from 'zod';
import type { Collected } from '../../app/collect-checkpoints.ts';
import type { ShownCheckpoint } from '../../app/list-checkpoints.ts';
import { LEAST_KEPT } from '../../checkpoint/collect.ts';
import { STANDINGS } from '../../checkpoint/resolve.ts';
import { attemptOfEpoch } from '../../job/identity.ts';
import type { Published } from '../../job/point.ts';
import { instant } from './job.ts';

const published = {
  epoch: z.int().min(0),
  attempt: z.int().min(0),
  run: z.int().min(0),
  trainingStep: z.int().min(0),
  path: z.string().meta({ description: 'Relative to the job’s checkpoint root.' }),
};

export const checkpointSchema = z
  .strictObject({
    ...published,
    standing: z.enum(STANDINGS),
    latest: z.boolean().meta({ description: 'What the next run resumes from, as things are.' }),
    sizeBytes: z.int().min(0).optional(),
    reportedAt: instant.optional(),
  })
  .meta({ id: 'Checkpoint' });

export const checkpointsSchema = z
  .strictObject({
    items: z.array(checkpointSchema).meta({ description: 'The greatest first.' }),
    refreshed: z.boolean().meta({ description: 'Listed completely just now; else it is what the record holds.' }),
    nextCursor: z.string().optional(),
  })
  .meta({ id: 'Checkpoints' });

export const collectingSchema = z
  .strictObject({
    keep: z.int().min(LEAST_KEPT).max(1000).meta({ description: 'How many of those that could be resumed from stay, whatever else does.' }),
    dry: z.boolean().default(true).meta({ description: 'Only tell what would go. `false` removes it, for good.' }),
  })
  .meta({ id: 'Collecting' });

export const collectedSchema = z
  .strictObject({
    dry: z.boolean(),
    items: z
      .array(
        z
          .strictObject({
            ...published,
            files: z
              .boolean()
              .meta({ description: 'False: its announcement alone; files that something else needs, or that no run wrote, stay.' }),
            failed: z.string().optional().meta({ description: 'Why it is still there, in whole or in part.' }),
          })
          .meta({ id: 'CollectedCheckpoint' }),
      )
      .meta({ description: 'What went, or would go; the oldest first.' }),
    kept: z.int().min(0).meta({ description: 'How many publications stay.' }),
    left: z.int().min(0).meta({ description: 'For how many more there was no room or no time: ask again.' }),
  })
  .meta({ id: 'Collected' });

export const publishedSchema = z
  .strictObject({ recorded: z.boolean().meta({ description: 'False: the record is long, and the marker alone counts.' }) })
  .meta({ id: 'Published' });

const publishedOf = ({ epoch, step, path }: Published) => {
  const { n, run } = attemptOfEpoch(epoch);
  return { epoch, attempt: n, run, trainingStep: step, path };
};

export const checkpointOf = (shown: ShownCheckpoint): z.infer<typeof checkpointSchema> => ({
  ...publishedOf(shown),
  standing: shown.standing,
  latest: shown.latest,
  ...(shown.sizeBytes === undefined ? {} : { sizeBytes: shown.sizeBytes }),
  ...(shown.reportedAt === undefined ? {} : { reportedAt: new Date(shown.reportedAt).toISOString() }),
});

export const collectedOf = (
  { kept, items, left }: Extract<Collected, { kind: 'collected' }>,
  dry: boolean,
): z.infer<typeof collectedSchema> => ({
  dry,
  items: items.map(({ publication, files, failed }) => ({
    ...publishedOf(publication),
    files,
    ...(failed === undefined ? {} : { failed }),
  })),
  kept,
  left,
});
