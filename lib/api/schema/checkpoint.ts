/** What routes about checkpoints take and answer with. */
import * as z from 'zod';
import type { ShownCheckpoint } from '../../app/list-checkpoints.ts';
import { STANDINGS } from '../../checkpoint/resolve.ts';
import { attemptOfEpoch } from '../../job/identity.ts';
import { instant } from './job.ts';

export const checkpointSchema = z
  .strictObject({
    epoch: z.int().min(0),
    attempt: z.int().min(0),
    run: z.int().min(0),
    trainingStep: z.int().min(0),
    path: z.string().meta({ description: 'Relative to the job’s checkpoint root.' }),
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

export const publishedSchema = z
  .strictObject({ recorded: z.boolean().meta({ description: 'False: the record is long, and the marker alone counts.' }) })
  .meta({ id: 'Published' });

export const checkpointOf = ({
  epoch,
  step,
  path,
  standing,
  latest,
  sizeBytes,
  reportedAt,
}: ShownCheckpoint): z.infer<typeof checkpointSchema> => {
  const { n, run } = attemptOfEpoch(epoch);
  return {
    epoch,
    attempt: n,
    run,
    trainingStep: step,
    path,
    standing,
    latest,
    ...(sizeBytes === undefined ? {} : { sizeBytes }),
    ...(reportedAt === undefined ? {} : { reportedAt: new Date(reportedAt).toISOString() }),
  };
};
