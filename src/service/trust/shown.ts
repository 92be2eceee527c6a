import { safeText } from '../platform/safe-text.ts';

const maxLength = 200;

/** Quotes an untrusted value for the log, so that it cannot end the line, or hide or reorder parts of it. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'missing';
  return safeText(text.length > maxLength ? `${text.slice(0, maxLength)}…` : text);
}
