import { connectionErrorText } from '../../platform/system-errors.ts';
import { LfsError } from '../../syncs/lfs-objects.ts';

/** No request to the store can succeed now. */
export class StoreUnusable extends LfsError {}

/** Transient error: the store did not answer, or the connection failed. The message completes "…: ". */
export class StoreError extends Error {
  override readonly name = 'StoreError';
}

export const toStoreError = (error: unknown): StoreError =>
  error instanceof StoreError ? error : new StoreError(connectionErrorText(error));
