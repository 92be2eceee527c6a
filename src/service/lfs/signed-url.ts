import { createHmac } from 'node:crypto';
import { databaseKey } from '../storage/database-key.ts';
import type { Storage } from '../storage/storage.ts';
import { sameHash } from '../tokens/secret.ts';
import type { ObjectName } from './pointer.ts';

/** A client that takes longer to download a batch requests it again (git-lfs, tq/transfer.go). */
export const urlLifetimeSeconds = 60 * 60;

export const signedNames = ['size', 'expires', 'signature'] as const;

export type UrlSigner = ReturnType<typeof createUrlSigner>;

/** The fields of a received query. Not trusted before verification. */
type SignedFields = Readonly<Partial<Record<(typeof signedNames)[number], string>>>;

/**
 * Signs URLs that need no token. Each is valid for one object of one workspace until it expires. `clock` returns
 * milliseconds since 1970.
 */
export function createUrlSigner(key: string, clock: () => number) {
  // JSON separates the fields unambiguously, regardless of their content.
  const signatureOf = (...fields: readonly string[]): string =>
    createHmac('sha256', key).update(JSON.stringify(fields)).digest('base64url');

  return {
    /** `text` is the query string, including the signature. */
    sign(workspace: string, { oid, size }: ObjectName) {
      const expires = Math.ceil(clock() / 1_000) + urlLifetimeSeconds;
      const signature = signatureOf(workspace, oid, String(size), String(expires));
      return {
        text: new URLSearchParams({ size: String(size), expires: String(expires), signature }).toString(),
        expiresAt: new Date(expires * 1_000),
      };
    },
    verify(workspace: string, oid: string, { size = '', expires = '', signature = '' }: SignedFields) {
      if (!sameHash(signature, signatureOf(workspace, oid, size, expires))) return { kind: 'invalid' } as const;
      return Number(expires) * 1_000 <= clock()
        ? ({ kind: 'expired' } as const)
        : ({ kind: 'valid', size: Number(size) } as const);
    },
  };
}

/** Anyone who can read the database can sign URLs, but can also read the passwords of remotes in it. */
export const urlKey = (storage: Pick<Storage, 'commit'>): Promise<string> =>
  databaseKey(storage, 'lfs-object-addresses');
