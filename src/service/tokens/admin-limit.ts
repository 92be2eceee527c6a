import type { Scope } from '../../interface/scopes.ts';

/** Why a token cannot have these scopes and be limited so; undefined when it can. */
export function whyNotLimited(scopes: readonly Scope[], workspaces: readonly string[] | null): string | undefined {
  if (workspaces === null || !scopes.includes('admin')) return undefined;
  return 'A token with the scope admin cannot be limited to some workspaces: it makes tokens for all of them.';
}
