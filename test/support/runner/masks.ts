function* positions(text: string, part: string): Generator<readonly [start: number, end: number]> {
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) yield [at, at + part.length];
}

export type Masks = ReturnType<typeof createMasks>;

/** The secrets of a job, shared by all its steps, as in the runner. */
export function createMasks(secrets: readonly string[] = []) {
  const values = new Set<string>();
  const add = (secret: string): void => {
    if (secret !== '') values.add(secret);
  };
  secrets.forEach(add);
  return {
    add,
    /** The text with three asterisks for each secret. The runner also finds some encodings, on which nothing here relies. */
    apply(text: string): string {
      const found = [...values].flatMap((part) => [...positions(text, part)]).sort(([a], [b]) => a - b);
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
