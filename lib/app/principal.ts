/**
 * Principal: a caller of the API, as the edge built it from a token it verified (contract §11), and what it may touch.
 * Guards: a job belongs to an owner and a project; who is neither its owner nor of its project, and does not operate, learns
 * nothing of it, not even that it exists.
 */
export const SCOPES = ['read', 'submit', 'cancel', 'answer', 'operate'] as const;
export type Scope = (typeof SCOPES)[number];

export interface Principal {
  readonly id: string;
  /** Names of groups; each is also a project that this principal belongs to. */
  readonly groups: readonly string[];
  readonly scopes: readonly Scope[];
}

/** Where jobs go that name no project, of principals without groups. */
export const DEFAULT_PROJECT = 'default';

export const hasScope = (principal: Principal, scope: Scope): boolean => principal.scopes.includes(scope);

export const projectsOf = (principal: Principal): readonly string[] => (principal.groups.length > 0 ? principal.groups : [DEFAULT_PROJECT]);

/** `operate` crosses projects; an owner keeps sight of its own jobs whatever happens to its groups. */
export const mayTouch = (principal: Principal, job: { readonly owner: string; readonly project: string }): boolean =>
  hasScope(principal, 'operate') || job.owner === principal.id || projectsOf(principal).includes(job.project);

/** The project that a new job belongs to; undefined: the one it names is none of this principal's. */
export const projectFor = (principal: Principal, named: string | undefined): string | undefined => {
  const own = projectsOf(principal);
  if (named === undefined) return own[0] ?? DEFAULT_PROJECT;
  return own.includes(named) || hasScope(principal, 'operate') ? named : undefined;
};

/** A login without a list is open to everybody who may submit. */
export const mayUseLogin = (principal: Principal, login: { readonly allow?: readonly string[] | undefined }): boolean =>
  isAllowed(principal, login.allow);

/** So is a secret; and it may be for jobs under certain logins alone. */
export const mayUseSecret = (
  principal: Principal,
  secret: { readonly allow?: readonly string[] | undefined; readonly logins?: readonly string[] | undefined },
  login: { readonly cluster: string; readonly id: string },
): boolean => isAllowed(principal, secret.allow) && (secret.logins?.includes(`${login.cluster}/${login.id}`) ?? true);

const isAllowed = (principal: Principal, allow: readonly string[] | undefined): boolean =>
  allow === undefined || allow.some((name) => name === principal.id || principal.groups.includes(name));
