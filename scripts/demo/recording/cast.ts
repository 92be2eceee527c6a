export interface Cast {
  add(text: string): void;
  /** The content of the file so far. */
  text(): string;
}

/** Removes secrets. Their service has ended, but scanners search published recordings for secrets. */
const withoutSecrets = (text: string): string => text.replaceAll(/\b(wsa_|wsl_|whsec_)[\w+/=-]+/g, '$1***');

/** A recording of a terminal: https://docs.asciinema.org/manual/asciicast/v2/ */
export function createCast(width: number, height: number, title: string): Cast {
  const began = performance.now();
  const header = { version: 2, width, height, timestamp: Math.floor(Date.now() / 1_000), title };
  const lines: unknown[] = [header];
  return {
    add(text) {
      const seconds = Math.round(performance.now() - began) / 1_000;
      lines.push([seconds, 'o', withoutSecrets(text).replaceAll('\n', '\r\n')]);
    },
    text: () => lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
  };
}
