import type { WaitRequest } from '../../src/service/locks/waits.ts';

/** A wait of a client that stays for a minute, in the line of `a` unless given otherwise. */
export function waitRequest(
  id: string,
  { paths = ['a'], ...more }: { readonly paths?: readonly string[] } & Partial<Omit<WaitRequest, 'keys'>> = {},
): WaitRequest {
  return {
    ...{ id, workspace: 'game', kind: 'request', wanted: paths.length },
    keys: paths.map((path) => ({ workspace: more.workspace ?? 'game', path })),
    ...{ tokenId: 'tok_1', owner: id, origin: null, note: null, urgency: 3, requestId: id },
    presentMs: 60_000,
    ...more,
  };
}
