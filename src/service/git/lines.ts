const longestLine = 8_192;

/**
 * Cuts a stream of text into lines, at the carriage returns of progress lines too. Of a line without an end only the
 * beginning is kept, so that it does not fill the memory.
 */
export function intoLines(onLine: (line: string) => void): { push(text: string): void; end(): void } {
  let line = '';
  const add = (text: string): void => {
    line = (line + text).slice(0, longestLine);
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
