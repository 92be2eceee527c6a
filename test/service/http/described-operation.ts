import { expect } from 'vitest';
import type { Ask, Reply } from '../../support/running-service.ts';
import { describedStatuses, expectDescribed, optionalHeaders } from './described-operations.ts';
import type { SharedService } from './shared-service.ts';

/** Covered elsewhere: these need a database that is gone, or a token that exceeds its rate limit. */
const elsewhere = [429, 503];

export type DescribedAsk = (parameters: string | Readonly<Record<string, string>>, given?: Ask) => Promise<Reply>;

interface OperationOfTest extends Readonly<Record<'method' | 'path' | 'workspace', string>> {
  /** A token without scopes. */
  readonly limited: string;
}

/** Sends requests, and checks each response before returning it. Missing parameters become `none`. */
export function describedOperation(service: SharedService, { method, path, workspace, limited }: OperationOfTest) {
  const seen = new Map<number, Set<string>>();
  const ask: DescribedAsk = async (parameters, given = {}) => {
    const [values, query] = typeof parameters === 'string' ? [{}, parameters] : [parameters, ''];
    const parts: Readonly<Record<string, string>> = { id: workspace, lease: 'none-of-the-leases', ...values };
    const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(parts[name] ?? 'none'));
    const response = await service.ask(method, address + query, { token: service.secret, ...given });
    expectDescribed(method, path, response);
    const sent = seen.get(response.status) ?? new Set();
    for (const name of response.headers.keys()) sent.add(name);
    seen.set(response.status, sent);
    return response;
  };
  const expectAllSeen = async (): Promise<void> => {
    const statuses = describedStatuses(method, path);
    // All operations refuse unauthorized requests in the same way.
    if (statuses.includes(401)) await ask('', { token: undefined });
    if (statuses.includes(403)) await ask('', { token: limited });
    const expected = statuses.filter((status) => seen.has(status) || !elsewhere.includes(status));
    expect([...seen.keys()].sort()).toEqual(expected.sort());
    for (const [status, sent] of seen) {
      const never = optionalHeaders(method, path, status).filter((name) => !sent.has(name.toLowerCase()));
      expect(never, `headers that ${method} ${path} with ${status} never had`).toEqual([]);
    }
  };
  return { ask, expectAllSeen };
}

const raw = (text: string, headers: Readonly<Record<string, string>> = {}): Ask => ({
  raw: text,
  headers: { 'content-type': 'application/json', ...headers },
});

/** Gets the errors that every operation with a body can return before it reads the fields. */
export async function askWrongly(ask: DescribedAsk, maxBodyBytes = 1024 * 1024): Promise<void> {
  await ask('', raw('{'));
  await ask('', raw(' ', { 'content-length': String(maxBodyBytes + 1) }));
  await ask('', raw('{}', { 'content-type': 'text/plain' }));
  await ask('', raw('{}', { 'content-encoding': 'gzip' }));
  await ask('', raw('{}'));
}
