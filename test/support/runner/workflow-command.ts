/** A command in a line of output. Facts: actions/runner, `ActionCommand.cs`, where the two forms are V2 and V1. */
export interface WorkflowCommand {
  /** In lower case: the runner does not distinguish case. */
  readonly name: string;
  /** By name in lower case. */
  readonly properties: ReadonlyMap<string, string>;
  readonly data: string;
}

/** The commands that the runner knows; a line with any other is just a line. */
export const commandNames: ReadonlySet<string> = new Set([
  'add-mask',
  'add-matcher',
  'add-path',
  'debug',
  'echo',
  'endgroup',
  'error',
  'group',
  'notice',
  'remove-matcher',
  'save-state',
  'set-env',
  'set-output',
  'stop-commands',
  'warning',
]);

interface Form {
  readonly separator: string;
  readonly inProperty: RegExp;
  readonly inData: RegExp;
}

/** `::error file=a.txt,line=1::message` */
const colons: Form = { separator: ',', inProperty: /%(0D|0A|3A|2C|25)/g, inData: /%(0D|0A|25)/g };

/** `##[error file=a.txt;line=1]message` */
const brackets: Form = { separator: ';', inProperty: /%(3B|0D|0A|5D|25)/g, inData: /%(3B|0D|0A|5D|25)/g };

const decode = (text: string, escaped: RegExp): string =>
  text.replaceAll(escaped, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

function parseProperties(text: string, form: Form): ReadonlyMap<string, string> {
  return new Map(
    text.split(form.separator).flatMap((pair): [string, string][] => {
      // One without a value is left out, and of several equals signs between name and value all but one are lost.
      const [, name, value] = /^=*([^=]+)=+(.+)$/s.exec(pair) ?? [];
      return name === undefined || value === undefined ? [] : [[name.toLowerCase(), decode(value, form.inProperty)]];
    }),
  );
}

function build(
  head: string,
  data: string,
  form: Form,
  isKnown: (name: string) => boolean,
): WorkflowCommand | undefined {
  const blank = head.indexOf(' ');
  const name = (blank < 0 ? head : head.slice(0, blank)).toLowerCase();
  if (!isKnown(name)) return undefined;
  const properties = blank < 0 ? '' : head.slice(blank + 1);
  return {
    name,
    properties: parseProperties(form === colons ? properties.trim() : properties, form),
    data: decode(data, form.inData),
  };
}

/** What .NET takes for white space; `trimStart` of JavaScript leaves U+0085 and takes U+FEFF. */
const leadingBlanks = /^[\t\n\v\f\r\u0085\p{Z}]+/u;

/** Only at the start of the line, after blanks. */
function parseColons(line: string, isKnown: (name: string) => boolean): WorkflowCommand | undefined {
  const text = line.replace(leadingBlanks, '');
  if (!text.startsWith('::')) return undefined;
  const end = text.indexOf('::', 2);
  return end < 0 ? undefined : build(text.slice(2, end), text.slice(end + 2), colons, isKnown);
}

/** Anywhere in the line, so also in the middle of a sentence. */
function parseBrackets(line: string, isKnown: (name: string) => boolean): WorkflowCommand | undefined {
  const start = line.indexOf('##[');
  const end = start < 0 ? -1 : line.indexOf(']', start);
  return end < 0 ? undefined : build(line.slice(start + 3, end), line.slice(end + 1), brackets, isKnown);
}

/** The command in a line, if there is one among those that are known (their names in lower case). */
export const parseCommand = (line: string, isKnown: (name: string) => boolean): WorkflowCommand | undefined =>
  parseColons(line, isKnown) ?? parseBrackets(line, isKnown);
