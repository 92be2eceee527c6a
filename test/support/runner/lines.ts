/**
 * Splits a stream into lines like .NET's `StreamReader.ReadLine`, with which actions/runner reads its processes
 * (`ProcessInvoker.cs`): a line ends at LF, at CR LF, and at a CR alone. So text after a lone CR can start a workflow
 * command.
 */
export function splitLines(onLine: (line: string) => void) {
  let rest = '';
  let afterReturn = false;
  return {
    push(text: string): void {
      const fresh = afterReturn && text.startsWith('\n') ? text.slice(1) : text;
      if (text !== '') afterReturn = text.endsWith('\r');
      const parts = (rest + fresh).split(/\r\n|\r|\n/);
      rest = parts.pop() ?? '';
      for (const line of parts) onLine(line);
    },
    /** Passes on the rest, when no more text follows. */
    end(): void {
      if (rest !== '') onLine(rest);
      rest = '';
    },
  };
}
