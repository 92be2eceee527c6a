import { safeText } from '../platform/safe-text.ts';

const maxLength = 200;

/** Quotes an untrusted value for the log, so that it cannot end the line, or hide or reorder parts of it. */
export function shown(value: unknown): string {
  const text =
    typeof value === 'string' ? JSON.stringify(truncated(value)) : truncated(JSON.stringify(value) ?? 'missing');
  return safeText(text);
}

const truncated = (text: string): string => (text.length > maxLength ? `${text.slice(0, maxLength)}…` : text);
