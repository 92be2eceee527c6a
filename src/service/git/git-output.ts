import { setImmediate } from 'node:timers/promises';

const maxLineLength = 8_192;

/** Lines of progress end with a carriage return. */
const lineEnds = /[\r\n]/;

/** Splits a stream of text into lines that are not empty. Very long lines are truncated to limit memory. */
export function splitLines(onLine: (line: string) => void, separator: RegExp | string = lineEnds) {
  let line = '';
  const add = (text: string): void => {
    line = (line + text).slice(0, maxLineLength);
  };
  const end = (): void => {
    if (line !== '') onLine(line);
    line = '';
  };
  return {
    push(text: string): void {
      for (const [index, part] of text.split(separator).entries()) {
        if (index > 0) end();
        add(part);
      }
    },
    end,
  };
}

/** Calls back for each complete line of output of any length. Yields after each chunk, so that other work can run. */
export function eachLine(onLine: (line: string) => void, separator?: string): (chunk: Buffer) => Promise<void> {
  const lines = splitLines(onLine, separator);
  const decoder = new TextDecoder();
  return async (chunk) => {
    lines.push(decoder.decode(chunk, { stream: true }));
    await setImmediate();
  };
}

/** Like eachLine(), for texts that end with a zero byte. */
export const eachToken = (onToken: (token: string) => void) => eachLine(onToken, '\0');

const maxWordsLength = 500;

const noise = [
  /^(remote: )?[A-Z][A-Za-z ]*: +\d/,
  /^(remote: )?Total \d/,
  /^(hint|warning): /,
  /^From /,
  /^Please make sure you have the correct access rights/,
  /^and the repository exists\./,
  /^error: failed to fetch some objects from /,
  /^Errors logged to /,
  /^Use `git lfs logs last`/,
];

/** The last messages of git before it failed, in one line, without progress and hints for people at a terminal. */
export function summarizeErrors(errorLines: readonly string[]): string {
  const words = errorLines
    .map((line) => line.replaceAll(/\p{Cc}+/gu, ' ').trim())
    .filter((line) => line !== '' && line !== 'remote:' && !noise.some((pattern) => pattern.test(line)))
    .slice(-3)
    .join(' ');
  return words.length > maxWordsLength ? `${words.slice(0, maxWordsLength)}…` : words;
}
