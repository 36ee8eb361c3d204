/** Answer: a person's word on a question about a cluster, committed to its record; the first valid one wins (contract §10). */
import { answerCluster, type ClusterRefused } from '../../job/cluster-command.ts';
import type { ClusterView } from '../../job/cluster-view.ts';
import type { Ports } from '../ports.ts';
import { commitCluster } from './commit.ts';

export type ClusterCommanded =
  | { readonly kind: 'committed'; readonly view: ClusterView }
  | (ClusterRefused & { readonly view: ClusterView });

export const answerClusterQuestion = async (
  ports: Ports,
  cluster: string,
  given: { readonly question: string; readonly answer: unknown; readonly by: string },
): Promise<ClusterCommanded> => {
  let refused: ClusterRefused | undefined;
  const { view, commit } = await commitCluster(ports, cluster, `user:${given.by}`, (newest, now) => {
    const said = answerCluster(newest, given, now);
    refused = said.kind === 'refused' ? said : undefined;
    return said.kind === 'events' ? said.events : [];
  });
  if (commit || !refused) return { kind: 'committed', view };
  return { ...refused, view };
};
