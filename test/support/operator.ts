import type { Actor } from '../../src/service/audit/audit.ts';

/** The actor of changes that prepare a test. */
export const operator: Actor = { name: 'operator:test', tokenId: null, address: null };
