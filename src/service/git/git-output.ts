import { setImmediate } from 'node:timers/promises';

const maxLineLength = 8_192;

/**
 * Splits a stream of text into lines, also at the carriage returns of progress lines. Very long lines are truncated to
 * limit memory.
 */
export function intoLines(onLine: (line: string) => void): { push(text: string): void; end(): void } {
  let line = '';
  const add = (text: string): void => {
    line = (line + text).slice(0, maxLineLength);
  };
  const end = (): void => {
    if (line !== '') onLine(line);
    line = '';
  };
  return {
    push(text) {
      for (const [index, part] of text.split(/[\r\n]/).entries()) {
        if (index > 0) end();
        add(part);
      }
    },
    end,
  };
}

/** Handler of output of any length, for each line that ends. Yields after each chunk, so that other work can run. */
export function eachLine(onLine: (line: string) => void): (chunk: Buffer) => Promise<void> {
  const lines = intoLines(onLine);
  const decoder = new TextDecoder();
  return async (chunk) => {
    lines.push(decoder.decode(chunk, { stream: true }));
    await setImmediate();
  };
}

/** Handler of output of any length, for each text that a zero byte ends, like eachLine(). */
export function eachToken(onToken: (token: string) => void): (chunk: Buffer) => Promise<void> {
  const decoder = new TextDecoder();
  let rest = '';
  return async (chunk) => {
    const tokens = `${rest}${decoder.decode(chunk, { stream: true })}`.split('\0');
    rest = (tokens.pop() ?? '').slice(0, maxLineLength);
    for (const token of tokens) onToken(token);
    await setImmediate();
  };
}

const maxWordsLength = 500;

const noise = [
  /^(remote: )?[A-Z][A-Za-z ]*: +\d/,
  /^(remote: )?Total \d/,
  /^(hint|warning): /,
  /^From /,
  /^Please make sure you have the correct access rights/,
  /^and the repository exists\./,
];

/** The last messages of git before it failed, in one line, without progress and hints for terminal users. */
export function wordsOfGit(errorLines: readonly string[]): string {
  const words = errorLines
    .map((line) => line.replaceAll(/\p{Cc}+/gu, ' ').trim())
    .filter((line) => line !== '' && line !== 'remote:' && !noise.some((pattern) => pattern.test(line)))
    .slice(-3)
    .join(' ');
  return words.length > maxWordsLength ? `${words.slice(0, maxWordsLength)}…` : words;
}
