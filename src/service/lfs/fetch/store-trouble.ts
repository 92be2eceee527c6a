import { systemErrorText } from '../../platform/system-errors.ts';

/** The store did not answer, or broke off. The message completes "…: ". */
export class StoreTrouble extends Error {
  override readonly name = 'StoreTrouble';
}

export const troubleOf = (error: unknown): StoreTrouble => {
  if (error instanceof StoreTrouble) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  // The message of an error may quote the request; its code does not.
  return new StoreTrouble(systemErrorText(code) ?? (code === '' ? 'it broke off' : `the connection failed (${code})`));
};
