import { systemErrorText } from '../../platform/system-errors.ts';

/** The store did not answer, or broke off. The message completes "…: ". */
export class StoreError extends Error {
  override readonly name = 'StoreTrouble';
}

export const toStoreError = (error: unknown): StoreError => {
  if (error instanceof StoreError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  // The message of an error may quote the request; its code does not.
  return new StoreError(systemErrorText(code) ?? (code === '' ? 'it broke off' : `the connection failed (${code})`));
};
