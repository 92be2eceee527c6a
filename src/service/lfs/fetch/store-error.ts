import { systemErrorText } from '../../platform/system-errors.ts';
import { LfsError } from '../../syncs/lfs-objects.ts';

/** No request to the store can succeed now. */
export class StoreUnusable extends LfsError {}

/** Transient error: the store did not answer, or the connection failed. The message completes "…: ". */
export class StoreError extends Error {
  override readonly name = 'StoreError';
}

export const toStoreError = (error: unknown): StoreError => {
  if (error instanceof StoreError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  // Uses the code because the message of an error may quote the request.
  return new StoreError(
    systemErrorText(code) ?? (code === '' ? 'the connection was closed' : `the connection failed (${code})`),
  );
};
