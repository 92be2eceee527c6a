/** The permissions of a token. A scope grants itself and the scopes that it implies. */
export const scopes = [
  'sync',
  'contents:read',
  'locks:read',
  'locks:write',
  'locks:admin',
  'hooks:write',
  'admin',
] as const;

export type Scope = (typeof scopes)[number];

export const scopeMeanings: Readonly<Record<Scope, string>> = {
  sync: 'start a sync and follow it, and clone from the mirror',
  'contents:read': 'clone from the mirror',
  'locks:read': 'list locks',
  'locks:write': 'take, renew and release locks, and list them',
  'locks:admin': 'release locks of other owners, and everything that locks:write allows',
  'hooks:write': 'register build webhooks, and view their deliveries',
  admin: 'manage tokens, trust rules and workspaces, read the audit log, and everything that the other scopes allow',
};

export const isScope = (text: string): text is Scope => scopes.some((scope) => scope === text);

const implied: Readonly<Partial<Record<Scope, readonly Scope[]>>> = {
  sync: ['contents:read'],
  'locks:write': ['locks:read'],
  'locks:admin': ['locks:write', 'locks:read'],
  admin: scopes,
};

export const grants = (held: readonly Scope[], needed: Scope): boolean =>
  held.some((scope) => scope === needed || implied[scope]?.includes(needed));
