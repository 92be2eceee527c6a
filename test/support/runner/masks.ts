const xmlEscapes: Readonly<Record<string, string>> = {
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  '&': '&amp;',
};

const percent = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;

/**
 * The encodings in which the runner also looks for a secret: actions/runner, `HostContext.cs` and `ValueEncoders.cs`.
 * Base64 has three, depending on the position of the secret in a group of three bytes.
 */
const encodings: readonly ((secret: string) => string)[] = [
  (secret) => secret,
  ...[0, 1, 2].map((shift) => (secret: string) => {
    const bytes = Buffer.from(secret);
    return bytes.subarray(bytes.length > shift ? shift : 0).toString('base64');
  }),
  (secret) => secret.replaceAll('"', '\\"'),
  (secret) => secret.replaceAll("'", "''"),
  (secret) => JSON.stringify(secret).slice(1, -1),
  (secret) => encodeURIComponent(secret.toWellFormed()).replaceAll(/[!'()*]/g, percent),
  (secret) => secret.replaceAll(/[<>"'&]/g, (character) => xmlEscapes[character] ?? character),
  (secret) => (/^".{7,}"$/s.test(secret) ? secret.slice(1, -1) : ''),
];

function* positions(text: string, part: string): Generator<readonly [start: number, end: number]> {
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) yield [at, at + part.length];
}

export type Masks = ReturnType<typeof createMasks>;

/** The secrets of a job, shared by all its steps, as in the runner. */
export function createMasks(secrets: readonly string[] = []) {
  const values = new Set<string>();
  const variations = new Set<string>();
  const add = (secret: string): void => {
    if (secret === '') return;
    values.add(secret);
    for (const encode of encodings) variations.add(encode(secret));
    variations.delete('');
  };
  secrets.forEach(add);
  return {
    add,
    /** The text with three asterisks for each secret, also for secrets in another encoding. */
    apply(text: string): string {
      const found = [...variations].flatMap((part) => [...positions(text, part)]).sort(([a], [b]) => a - b);
      let masked = '';
      let done = 0;
      let until = -1;
      for (const [start, end] of found) {
        // Overlapping or adjacent matches are joined: `SecretMasker.cs`.
        if (start > until) {
          masked += `${text.slice(done, start)}***`;
          until = end;
        }
        until = Math.max(until, end);
        done = until;
      }
      return masked + text.slice(done);
    },
    /** The added secrets, in order. */
    values: () => [...values],
  };
}
