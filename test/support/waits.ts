import type { WaitRequest } from '../../src/service/locks/waits.ts';

interface Wait {
  readonly paths?: readonly string[];
  readonly wanted?: number;
  readonly workspace?: string;
  readonly tokenId?: string;
  readonly owner?: string;
  readonly urgency?: number;
  readonly presentMs?: number;
}

/** A wait of a client that stays for a minute, in the line of `a` unless given otherwise. */
export function waitRequest(
  waitId: string,
  { paths = ['a'], wanted = paths.length, workspace = 'game', tokenId = 'tok_1', owner = waitId, ...more }: Wait = {},
): WaitRequest {
  const bearer = { id: tokenId, name: owner, owner, scopes: [], workspaces: null };
  const keys = paths.map((path) => ({ workspace, path }));
  const place = { requestId: waitId, urgency: 3, presentMs: 60_000, ...more };
  return { waitId, workspace, bearer, origin: null, note: null, keys, wanted, place };
}
