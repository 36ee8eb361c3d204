/** The table: every route there is, in the order of the document. A door that serves a part of it names the parts. */
import type { Route } from './route.ts';
import { clusterRoutes } from './routes/clusters.ts';
import { escalationRoutes } from './routes/escalations.ts';
import { jobPartRoutes } from './routes/job-parts.ts';
import { jobRoutes } from './routes/jobs.ts';
import { planRoutes } from './routes/plans.ts';
import { systemRoutes } from './routes/system.ts';

export const ROUTES: readonly Route[] = [
  ...planRoutes,
  ...jobRoutes,
  ...jobPartRoutes,
  ...escalationRoutes,
  ...clusterRoutes,
  ...systemRoutes,
];
