/** Names of the kinds of worlds (kind.ts), apart from what they load. */
export const KIND_NAMES = ['default', 'two', 'attempts', 'year'] as const;
export type KindName = (typeof KIND_NAMES)[number];
