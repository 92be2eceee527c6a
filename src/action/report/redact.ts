import { createRedactor, type Redact } from '../../interface/redact.ts';

/** More than an hour: every 15 minutes, there is an API token and the identity token that it was exchanged for. */
const maxAdded = 12;

/** The secrets of a step: those of its inputs, and the tokens that are issued while it runs. */
export function createSecretRedactor(secrets: readonly string[]) {
  let redact = createRedactor(secrets);
  let added: readonly string[] = [];
  return {
    redact: (text: string): string => redact(text),
    add(secret: string): void {
      added = [...added, secret].slice(-maxAdded);
      redact = createRedactor([...secrets, ...added]);
    },
  };
}

/** JSON without secrets. They are redacted before encoding, because JSON spells some texts differently. */
export const redactedJson = (value: unknown, redact: Redact): string =>
  JSON.stringify(value, (_, member: unknown) => {
    if (typeof member === 'string') return redact(member);
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).map(([name, each]) => [redact(name), each]));
  });
